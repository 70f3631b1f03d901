"""Findings compared with another torch: the questions, the answers, and what is said of them."""

from __future__ import annotations

import io
import json
import pathlib
import threading
from concurrent.futures import Future

import pytest
from rich.console import Console

from exportdiff.core.errors import UsageError
from exportdiff.core.finding import Finding
from exportdiff.core.torch_versions import torch_folder
from exportdiff.fuzzing.campaign.clock import Clock
from exportdiff.fuzzing.campaign.comparing import TorchComparison
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    ComparingStarted,
    EntriesFixed,
    Event,
    FindingFound,
    HarnessError,
    TorchesCompared,
)
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import ExampleResult
from exportdiff.fuzzing.other_torch.connection import OtherTorch
from exportdiff.fuzzing.other_torch.differences import PathDifference, change_of, differences
from exportdiff.fuzzing.other_torch.messages import (
    Answer,
    ErrorAnswer,
    FileAnswer,
    JudgeProgram,
    PathAnswer,
    ProgramAnswer,
    Question,
    ReproAnswer,
    RunFile,
    WriteRepro,
    decoded,
    encoded,
)
from exportdiff.fuzzing.other_torch.probe import (
    Interpreter,
    interpreter,
    interpreter_to_compare,
    running_interpreter,
)
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.console import ConsoleReport
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.repro_files import ReproFiles
from exportdiff.interfaces.reports.summary import summary_document
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.judging.checks.compare.leaves import LeafDifference
from exportdiff.judging.checks.outputs import OutputLeaf
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause
from exportdiff.known.corpus.entry import read_entry
from exportdiff.repro import repro_source
from exportdiff.repro.confirm import Confirmation
from exportdiff.runtime.paths import parse

MODULE, UNFLATTEN = "nonstrict:module@cpu", "nonstrict:unflatten@cpu"
SOURCE = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)
"""
VALUE = ("outputs", "mismatch", "value")


def wrong(path: str = UNFLATTEN) -> Finding:
    return Finding(parse(path), "outputs", OutputLeaf(0, "[0]", "fresh", LeafDifference("value", "1", "2")))


# --- messages ---


@pytest.mark.parametrize(
    "message",
    [
        JudgeProgram(SOURCE, (MODULE, UNFLATTEN), ("a_fix",), "/corpora"),
        WriteRepro(SOURCE, MODULE, VALUE),
        RunFile("print('ä\\n')", 2.5),
        ProgramAnswer(
            True, "", (PathAnswer(MODULE, "ok"), PathAnswer(UNFLATTEN, "finding", "", (VALUE, ("a",))))
        ),
        ProgramAnswer(False, "eager raised"),
        ReproAnswer("text", "0123"),
        FileAnswer(None, ""),
        ErrorAnswer("why"),
    ],
)
def test_a_message_is_one_line_and_comes_back(message: Question | Answer) -> None:
    line = encoded(7, message)
    assert "\n" not in line and isinstance(json.loads(line), dict)
    assert decoded(line) == (7, message)


def test_what_is_no_message_is_said_to_be_none() -> None:
    with pytest.raises(ValueError, match="no message"):
        decoded('{"number": 1, "type": "Other"}')


# --- which interpreters will do ---


def interpreter_that_says(where: pathlib.Path, /, **said: object) -> pathlib.Path:
    file = where / "python"
    answer = {"python": [3, 11, 0], "torch": "1.2.3", "missing": [], **said}
    file.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"torch": ""}, "has no torch"),
        ({"missing": ["numpy", "rich"]}, "-m pip install numpy rich"),
        ({"python": [3, 9, 1]}, "is Python 3.9.1; exportdiff needs 3.11"),
        ({"torch": running_interpreter().torch, "folder": str(torch_folder())}, "the same files as here"),
    ],
)
def test_an_interpreter_that_will_not_do_is_refused_in_one_line(
    said: dict[str, object], complaint: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        interpreter_to_compare(interpreter_that_says(tmp_path, **said), "--against")
    assert "\n" not in str(refused.value)


def test_a_torch_with_other_files_is_compared_also_if_its_version_is_the_same(tmp_path: pathlib.Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("")
    here = running_interpreter()
    python = interpreter_that_says(tmp_path, torch=here.torch, folder=str(tmp_path / "torch"))
    found = interpreter_to_compare(python, "--against")
    assert found.digest != here.digest
    assert found.label == f"{here.release} of {python}"


def test_what_is_no_interpreter_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="there is no such interpreter"):
        interpreter_to_compare(tmp_path / "python", "--against")
    file = tmp_path / "other"
    file.write_text("#!/bin/sh\necho hello\n")
    file.chmod(0o755)
    with pytest.raises(UsageError, match="is no Python interpreter"):
        interpreter_to_compare(file, "--against")


def test_an_interpreter_that_only_runs_files_needs_no_libraries(tmp_path: pathlib.Path) -> None:
    python = interpreter_that_says(tmp_path)
    assert interpreter(python, "--torch", judges=False) == Interpreter(python, "1.2.3")


# --- the process in the other environment ---


def test_a_process_under_another_torch_judges_writes_and_runs() -> None:
    changed = SOURCE.replace("return x + 1", "print(end='')\n        return x + missing")
    with OtherTorch(running_interpreter(), 1) as other:
        asked = (
            JudgeProgram(SOURCE, (MODULE, UNFLATTEN)),
            JudgeProgram(changed, (MODULE,)),
            JudgeProgram("from torch import what_it_lacks\n" + SOURCE, (MODULE,)),
            WriteRepro(SOURCE, MODULE, VALUE),
            RunFile("import torch\nprint('said')\nraise SystemExit(3)", 60.0),
            RunFile("raise KeyError('a')", 60.0),
        )
        well, invalid, lacking, nothing, ran, raised = [other.ask(each).result() for each in asked]
    assert well == ProgramAnswer(True, "", (PathAnswer(MODULE, "ok"), PathAnswer(UNFLATTEN, "ok")))
    assert isinstance(invalid, ProgramAnswer) and not invalid.valid
    assert isinstance(lacking, ProgramAnswer) and "what_it_lacks" in lacking.on(MODULE).reason
    assert nothing == ReproAnswer("")
    assert ran == FileAnswer(3, "said")
    assert isinstance(raised, FileAnswer) and raised.code not in (0, 1)


def test_a_process_that_ends_fails_what_it_was_asked(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "python"
    file.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    file.chmod(0o755)
    with OtherTorch(Interpreter(file, "1.2.3"), 1) as other:
        answer = other.ask(RunFile("", 1.0)).result(60)
    assert isinstance(answer, ErrorAnswer) and "process ended" in answer.error


# --- what differs ---


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        (PathAnswer(MODULE, "ok"), PathAnswer(MODULE, "ok"), []),
        (
            PathAnswer(MODULE, "finding", "", (VALUE,)),
            PathAnswer(MODULE, "ok"),
            [PathDifference("torch regression", MODULE, VALUE)],
        ),
        (
            PathAnswer(MODULE, "ok"),
            PathAnswer(MODULE, "finding", "", (VALUE,)),
            [PathDifference("fixed", MODULE, there=VALUE)],
        ),
        (PathAnswer(MODULE, "finding", "", (VALUE,)), PathAnswer(MODULE, "finding", "", (VALUE,)), []),
        (
            PathAnswer(MODULE, "finding", "", (("a",),)),
            PathAnswer(MODULE, "finding", "", (("b",),)),
            [PathDifference("changed", MODULE, ("a",), ("b",))],
        ),
        (
            PathAnswer(MODULE, "unsupported", "because"),
            PathAnswer(MODULE, "ok"),
            [PathDifference("newly refused", MODULE, ("because",))],
        ),
        (PathAnswer(MODULE, "finding", "", (VALUE,)), PathAnswer(MODULE, "unsupported", "because"), []),
        (PathAnswer(MODULE, "finding", "", (VALUE,)), PathAnswer(MODULE, "unjudged", "because"), []),
    ],
)
def test_differences(here: PathAnswer, there: PathAnswer, expected: list[PathDifference]) -> None:
    assert list(differences(here, there)) == expected


@pytest.mark.parametrize(
    ("there", "code", "change"),
    [
        (PathAnswer(MODULE, "ok"), 0, "torch regression"),
        (PathAnswer(MODULE, "ok"), 3, "not comparable"),
        (PathAnswer(MODULE, "ok"), None, "not comparable"),
        (PathAnswer(MODULE, "ok"), 1, "in both"),
        (PathAnswer(MODULE, "finding", "", (VALUE,)), 1, "in both"),
        (PathAnswer(MODULE, "finding", "", (("b",),)), 1, "changed"),
        (PathAnswer(MODULE, "unsupported", "because"), 0, "not comparable"),
        (PathAnswer(MODULE, "unjudged", "because"), 3, "not comparable"),
    ],
)
def test_a_finding_is_a_regression_only_if_its_file_passes_there(
    there: PathAnswer, code: int | None, change: str
) -> None:
    assert change_of(VALUE, there, code)[0] == change


# --- a campaign's comparison ---


class Elsewhere:
    """Another torch that shows what a test says."""

    interpreter = Interpreter(pathlib.Path("python"), "1.2.3")

    def __init__(self, judged: Answer, code: int = 0) -> None:
        self.asked: list[Question] = []
        self._judged = judged
        self._code = code

    def ask(self, question: Question) -> Future[Answer]:
        self.asked.append(question)
        future: Future[Answer] = Future()
        if isinstance(question, JudgeProgram):
            future.set_result(self._judged)
        elif isinstance(question, WriteRepro):
            future.set_result(ReproAnswer("of there", "fp"))
        else:
            # A file that is written there shows its bug there.
            future.set_result(FileAnswer(1 if question.text == "of there" else self._code, ""))
        return future


def compared(
    other: Elsewhere, *results: ExampleResult, found: tuple[Event, ...] = (), here: int = 1
) -> list[Event]:
    def confirm(text: str) -> Confirmation:
        code = 0 if text == "of there" else here
        return Confirmation(code == 1, "", code)

    settings = CampaignSettings((parse(MODULE), parse(UNFLATTEN)))
    comparison = TorchComparison(other, settings, confirm, Clock(None), threading.Event())  # type: ignore[arg-type]
    for event in found:
        comparison.see(event)
    happened: list[Event] = []
    for result in results:
        comparison.take(result)
        happened += comparison.ready()
    happened += comparison.finish()
    return [event for event in happened if not isinstance(event, ComparingStarted)]


def sampled(index: int, *findings: Finding, refused: bool = False) -> ExampleResult:
    def result(path: str) -> PathResult:
        if refused:
            return PathResult(parse(path), "unsupported", "because")
        differs = any(parse(path) in each.shown_on for each in findings)
        return PathResult(parse(path), "finding" if differs else "ok")

    plain = Verdict(True, "", (result(MODULE), result(UNFLATTEN)), findings, 0.0)
    return ExampleResult(index, plain, source=SOURCE, plain=plain)


WELL = ProgramAnswer(True, "", (PathAnswer(MODULE, "ok"), PathAnswer(UNFLATTEN, "ok")))


def test_a_path_that_is_ok_there_only_is_confirmed_with_both() -> None:
    other = Elsewhere(WELL)
    (event,) = compared(other, sampled(3, wrong()), sampled(5, wrong()))
    assert isinstance(event, TorchesCompared)
    assert (event.change, event.example, event.programs) == ("torch regression", 3, 2)
    assert event.finding == wrong() and event.repro == repro_source(wrong(), SOURCE)
    assert next(each for each in other.asked if isinstance(each, RunFile)).text == event.repro


@pytest.mark.parametrize(("here", "there"), [(0, 0), (1, 1), (1, 3)])
def test_what_fresh_processes_do_not_confirm_is_no_regression(here: int, there: int) -> None:
    assert not compared(Elsewhere(WELL, there), sampled(3, wrong()), here=here)


def test_a_regression_may_resemble_a_known_bug() -> None:
    known = ExplainedFinding(wrong(), (KnownCause("a_fix", "an_entry"),), by="resemblance")
    verdict = Verdict(True, "", (), (wrong(),), 0.0)
    result = ExampleResult(3, verdict, source=SOURCE, known=(known,))
    (event,) = compared(Elsewhere(WELL), result)
    assert isinstance(event, TorchesCompared)
    assert (event.change, event.causes) == ("torch regression", ("a_fix",))
    assert not compared(Elsewhere(WELL), ExampleResult(3, verdict, source=SOURCE))


def test_what_is_fixed_is_shown_by_a_file_that_is_written_there() -> None:
    other = Elsewhere(ProgramAnswer(True, "", (PathAnswer(MODULE, "finding", "", (VALUE,)),)))
    (event,) = compared(other, sampled(3))
    assert isinstance(event, TorchesCompared)
    assert (event.change, event.there, event.repro, event.finding) == ("fixed", VALUE, "of there", None)


def test_a_path_that_is_refused_since_is_told() -> None:
    (event,) = compared(Elsewhere(WELL), sampled(3, refused=True))
    assert isinstance(event, TorchesCompared)
    assert (event.change, event.here, event.programs) == ("newly refused", ("because",), 1)


def test_an_error_there_is_an_error_of_exportdiff() -> None:
    (event,) = compared(Elsewhere(ErrorAnswer("a traceback")), sampled(3))
    assert isinstance(event, HarnessError) and "a traceback" in event.traceback


def new(finding: Finding, classification: Classification = NEW) -> FindingFound:
    return FindingFound(1.0, finding, 4, SOURCE, repro_source(finding, SOURCE), classification)


def test_the_other_torch_runs_a_new_finding_with_its_fixes() -> None:
    other = Elsewhere(WELL)
    (event,) = compared(other, found=(new(wrong(), Classification("masked", ("a_fix",))),))
    assert isinstance(event, TorchesCompared)
    assert (event.change, event.fingerprint) == ("torch regression", wrong().fingerprint)
    assert [each.fixes for each in other.asked if not isinstance(each, WriteRepro)] == [("a_fix",)] * 2


def test_a_mistake_of_a_fix_is_not_compared() -> None:
    other = Elsewhere(WELL)
    assert not compared(other, found=(new(wrong(), Classification("regression", ("a_fix",))),))
    assert not other.asked


# --- what is printed and written ---

STARTED = CampaignStarted(
    0.0, 1, 10, None, 1, (MODULE,), "cpu", "default", (1, 1), "2.14.1+cpu", "3.11", against="2.13.0"
)


def change(what: str, finding: Finding | None = None, **fields: object) -> TorchesCompared:
    fingerprint = finding.fingerprint if finding is not None else ""
    given = {"change": what, "fingerprint": fingerprint, "path": MODULE, "here": VALUE, "there": ()}
    return TorchesCompared(2.0, example=3, finding=finding, **{**given, **fields})  # type: ignore[arg-type]


def reported(folder: pathlib.Path, *events: Event) -> tuple[Tally, str]:
    tally, printed = Tally(folder), io.StringIO()
    place = Folder(folder)
    place.prepare()
    campaign = CampaignReport(tally)
    with ConsoleReport(Console(file=printed, width=160), place, campaign) as console:
        listeners = (campaign, ReproFiles(place), console)
        for event in (STARTED, *events, CampaignFinished(9.0, "examples")):
            for listener in listeners:
                listener(event)
    return tally, printed.getvalue()


def test_regressions_of_torch_come_first_and_have_a_key_of_their_own(tmp_path: pathlib.Path) -> None:
    broken, other = wrong(), wrong(MODULE)
    text = repro_source(broken, SOURCE)
    tally, printed = reported(
        tmp_path,
        new(other),
        change("torch regression", broken, repro=text, causes=("a_fix",)),
        change("in both", other),
        change("fixed", there=VALUE),
        change("newly refused", here=("because",)),
        EntriesFixed(3.0, ("an_entry",)),
    )
    lines = printed.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("torch regression:"))
    assert first < next(number for number, line in enumerate(lines) if line.startswith("new:"))
    assert "ok on torch 2.13.0" in lines[first + 1] and "known as a_fix" in lines[first + 1]
    assert "also on torch 2.13.0" in printed
    assert "1 regressions of torch, 1 in both" in printed and "an_entry" in printed
    document = summary_document(tally)
    assert document["regressions"] == []
    against = document["against"]
    assert against["torch"] == "2.13.0"
    assert [each["fingerprint"] for each in against["torch_regressions"]] == [broken.fingerprint]
    assert [len(against[key]) for key in ("in_both", "fixed", "newly_refused", "changed")] == [1, 1, 1, 0]
    assert against["fixed_entries"] == ["an_entry"]


def test_the_file_of_a_finding_names_the_versions(tmp_path: pathlib.Path) -> None:
    broken, other = wrong(), wrong(MODULE)
    reported(
        tmp_path,
        new(other),
        change("torch regression", broken, repro=repro_source(broken, SOURCE)),
        change("in both", other),
    )
    folder = Folder(tmp_path)
    entry = read_entry(folder.repro(broken.fingerprint))
    assert entry.versions.rows == (("2.13.0", "fixed"), ("2.14.1", "shows"))
    shown = read_entry(folder.repro(other.fingerprint)).versions
    assert shown.rows == (("2.13.0", "shows"), ("2.14.1", "shows"))


def test_without_another_torch_nothing_is_said(tmp_path: pathlib.Path) -> None:
    tally = Tally(tmp_path)
    assert summary_document(tally)["against"] is None

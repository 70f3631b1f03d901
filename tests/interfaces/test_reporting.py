"""Reports: what they write for a stream of events."""

from __future__ import annotations

import io
import json
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyte
import pytest
from rich.console import Console

from exportdiff.core.errors import UsageError
from exportdiff.core.path import Path
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    FindingUnconfirmed,
    HarnessError,
    KnownSeen,
    MinimizingStarted,
    NotMinimized,
)
from exportdiff.fuzzing.campaign.final_minimizing import NO_TIME
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.closing_screen import fitted
from exportdiff.interfaces.reports.commands import show_command
from exportdiff.interfaces.reports.console import ConsoleReport
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.ndjson import NdjsonLog
from exportdiff.interfaces.reports.repro_files import ReproFiles
from exportdiff.interfaces.reports.summary import FORMAT, SummaryFile, summary_document
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.interfaces.reports.text import make_console
from exportdiff.judging.results import PathResult, Status
from exportdiff.known.attribution.classification import Classification
from exportdiff.known.corpus.entry import OPEN
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding
from support.folders import CORPORA
from support.schemas import validator

MODULE, UNFLATTEN = "nonstrict:module@cpu", "nonstrict:unflatten@cpu"
FINDING = make_finding("value", message="\n".join(f"line {number}" for number in range(15)))
OTHER = make_finding("dtype")


def example(index: int, *fingerprints: str, refused: bool = False, valid: bool = True) -> ExampleDone:
    status: Status = "unsupported" if refused else "ok"
    paths = (
        PathResult(
            parse(MODULE),
            status,
            "data-dependent" if refused else "",
            outcome="refused" if refused else "agrees",
        ),
        PathResult(
            parse(UNFLATTEN),
            "finding" if fingerprints else status,
            "data-dependent" if refused else "",
        ),
    )
    reason = "" if valid else "eager raised ValueError: of 3"
    return ExampleDone(
        1.0, index, valid, reason, ("op.map",), paths if valid else (), fingerprints, (), 0.5, 0.6
    )


STARTED = CampaignStarted(0.0, 7, 5, None, 2, (MODULE, UNFLATTEN), "cpu", "wide", (1, 1), "2.13.0", "3.11.7")
EVENTS: tuple[Event, ...] = (
    STARTED,
    example(0),
    example(1, FINDING.fingerprint),
    FindingFound(1.5, FINDING, 1, "x = [1]\n", "first\n"),
    example(2, FINDING.fingerprint, OTHER.fingerprint),
    FindingUnconfirmed(1.7, OTHER, 2, "ok"),
    example(3, refused=True),
    example(4, valid=False),
    HarnessError(1.8, 5, "Traceback\nKeyError: 'ours'"),
    FindingShrunk(1.9, FINDING, 2, "y = 1\n", "smaller\n"),
    CampaignFinished(2.0, "examples", 0, 2.0),
)
MINIMAL = replace(FINDING, minimal="abcdef0123")


def test_minimized_findings_keep_their_file_and_the_same_bug_is_counted_once(folder: Folder) -> None:
    tally, files = Tally(), ReproFiles(folder)
    for event in (
        EVENTS[0],
        example(0, FINDING.fingerprint),
        FindingFound(1.0, FINDING, 0, "x = 1\n", "first\n"),
        example(1, OTHER.fingerprint, FINDING.fingerprint),
        FindingFound(1.1, OTHER, 1, "x = 2\n", "second\n"),
        FindingMinimized(1.2, FINDING.fingerprint, MINIMAL, 0, "x\n", "small\n", 3.0, 9),
        FindingMinimized(1.3, OTHER.fingerprint, MINIMAL, 1, "x\n", "small too\n", 3.0, 9),
    ):
        tally(event)
        files(event)
    assert folder.repro(FINDING.fingerprint).read_text() == "small\n"
    document = summary_document(tally)
    validator("summary-1").validate(document)
    (finding,) = document["findings"]
    assert (finding["fingerprint"], finding["count"]) == ("abcdef0123", 3)
    assert finding["repro"] == f"findings/{FINDING.fingerprint}.py"


def test_known_findings_point_to_their_files(folder: Folder) -> None:
    tally = Tally(folder.root, folder.root.parent / "corpora")
    tally(KnownSeen(1.0, "add_rightly", "adds_wrongly", FINDING, 3))
    tally(KnownSeen(1.0, "nameless", "", FINDING, 3, "attribution ran out of time"))
    tally(ExampleDone(1.0, 3, True, "", (), (), (), ("add_rightly", "nameless"), 0.5, 0.6))
    tally(ExampleDone(1.0, 4, True, "", (), (), (), (), 0.5, 0.6, sampled=False))
    document = summary_document(tally)
    validator("summary-1").validate(document)
    finding, other = document["findings"]
    assert (finding["known"], finding["root_cause"], finding["count"]) == (True, "add_rightly", 1)
    assert finding["entry"] == "adds_wrongly"
    assert finding["repro"] == "../corpora/open/adds_wrongly.py"
    # No entry names this fix.
    assert other["repro"] == "../corpora/fixes/nameless.patch"
    assert other["remark"] == "attribution ran out of time"
    assert document["known"] == {"add_rightly": 1, "nameless": 1}
    assert document["known_sample"]["programs"] == 1
    assert document["known_by"] == {"fix": 2, "resemblance": 0}
    assert tally.new == tally.unconfirmed == 0


def test_what_only_resembles_an_entry_is_counted_apart(folder: Folder) -> None:
    tally = Tally()
    alike = KnownSeen(2.0, "fits_no_more", "adds_wrongly", FINDING, 4, by="resemblance")
    seen = [STARTED, KnownSeen(1.0, "add_rightly", "", FINDING, 3), alike, CampaignFinished(3.0, "examples")]
    shown = shown_at_the_end(folder, seen, tally)
    assert "  explained by fix: 1, by resemblance to an entry: 1\n" in shown
    document = summary_document(tally)
    assert document["known_by"] == {"fix": 1, "resemblance": 1}
    assert [each["by"] for each in document["findings"]] == ["fix", "resemblance"]


def test_masked_findings_and_regressions_are_lists_of_their_own(folder: Folder) -> None:
    tally = Tally()
    masked = Classification("masked", ("mend_it",), "the search ran out of time")
    stream = io.StringIO()
    campaign = CampaignReport(tally)
    report = ConsoleReport(Console(file=stream, width=200), folder, campaign)
    for event in (
        EVENTS[0],
        example(0, FINDING.fingerprint, OTHER.fingerprint),
        FindingFound(1.0, FINDING, 0, "x = 1\n", "first\n", masked),
        FindingFound(1.0, OTHER, 0, "x = 1\n", "first\n", Classification("regression", ("break_it",))),
        CampaignFinished(2.0, "time", 3, 2.0),
    ):
        campaign(event)
        report(event)
    document = summary_document(tally)
    assert document["findings"] == [] and tally.new == 0
    (one,), (other,) = document["masked"], document["regressions"]
    assert (one["fixes"], one["remark"]) == (["mend_it"], "the search ran out of time")
    assert (other["fixes"], other["fingerprint"]) == (["break_it"], OTHER.fingerprint)
    shown = stream.getvalue()
    # The file alone shows nothing on plain torch.
    assert f"$ exportdiff replay {folder.repro(FINDING.fingerprint)}\n" in shown
    assert "remark in summary.json" in shown
    assert "regressions of fixes: break_it\n" in shown
    assert "1 program in 2 s, 0.5/s (3 unfinished): 0 new" in shown
    assert "0 new, 1 masked, 1 regression of fixes\n" in shown
    # A later program shows it on plain torch.
    tally(FindingShrunk(1.9, FINDING, 2, "y = 1\n", "smaller\n"))
    assert tally.new == 1 and not tally.of_kind("masked")


FINDING_KEYS = {
    "fingerprint",
    "path",
    "mode",
    "transforms",
    "runner",
    "device",
    "check",
    "kind",
    "stage",
    "known",
    "count",
    "first_example",
    "first_seconds",
    "repro",
    "signature",
    "message",
    "call",
    "also",
    "minimal",
    "shown_on",
    "consequences",
    "fixes",
    "remark",
}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> Folder:
    folder = Folder(tmp_path / "out")
    folder.prepare()
    return folder


def test_summary_has_the_promised_shape(folder: Folder) -> None:
    tally = Tally()
    summary = SummaryFile(folder, tally)
    for event in EVENTS:
        tally(event)
        summary(event)
    document = json.loads(folder.summary.read_text())
    (finding,) = document.pop("findings")
    assert document == {
        "format": FORMAT,
        "torch": "2.13.0",
        "python": "3.11.7",
        "seed": 7,
        "profile": "wide",
        "around": "",
        "near": None,
        "seconds": 2.0,
        "fuzzing_seconds": 2.0,
        "given_up": 0,
        "examples": 5,
        "valid": 4,
        "invalid": 1,
        "unsupported": 1,
        "examples_per_second": 2.5,
        "torch_seconds": 2.5,
        "paths": {
            MODULE: {"runs": 4, "ok": 3, "unsupported": 1, "findings": 0},
            UNFLATTEN: {"runs": 4, "ok": 1, "unsupported": 1, "findings": 2},
        },
        "features": {"op.map": 5},
        "known": {},
        "known_by": {"fix": 0, "resemblance": 0},
        "known_sample": {"every": 1, "programs": 5},
        "masked": [],
        "regressions": [],
        "unconfirmed": 1,
        "unconfirmed_by_standing": {"new": 1, "masked": 0, "regression": 0},
        "not_minimized": {},
        "harness_errors": 1,
        "against": None,
        "lifted_fixes": {},
        "invalid_reasons": {"eager raised ValueError": 1},
        "exports": {"nonstrict": {"programs": 4, "refused": 1, "refusals": {"data-dependent": 1}}},
        "finished": "examples",
    }
    assert finding.keys() >= FINDING_KEYS
    assert finding["repro"] == f"findings/{FINDING.fingerprint}.py"
    assert (finding["count"], finding["first_example"], finding["first_seconds"]) == (2, 1, 1.5)
    assert (finding["known"], finding["transforms"]) == (False, [])


def test_ndjson_is_on_disk_after_every_event(folder: Folder) -> None:
    with NdjsonLog(folder.log) as log:
        for number, event in enumerate(EVENTS, 1):
            log(event)
            lines = folder.log.read_text().splitlines()
            assert len(lines) == number
            assert json.loads(lines[-1])["at"] == event.at
    with pytest.raises(ValueError, match="closed"):
        log(EVENTS[0])
    names = [json.loads(line)["event"] for line in lines]
    assert names[0] == "campaign_started"
    assert names[3:6] == ["finding_found", "example_done", "finding_unconfirmed"]
    assert json.loads(lines[3])["finding"]["fingerprint"] == FINDING.fingerprint


def test_repro_files_hold_the_confirmed_text_and_then_the_smaller_one(folder: Folder) -> None:
    files = ReproFiles(folder)
    for event in EVENTS[:4]:
        files(event)
    assert folder.repro(FINDING.fingerprint).read_text() == "first\n"
    for event in EVENTS[4:]:
        files(event)
    assert folder.repro(FINDING.fingerprint).read_text() == "smaller\n"
    assert len(list(folder.findings.iterdir())) == 1


def shown_at_the_end(folder: Folder, events: Iterable[Event], tally: Tally, *, terminal: bool = False) -> str:
    """Return what the console prints for events."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=80, color_system=None)
    campaign = CampaignReport(tally)
    with ConsoleReport(console, folder, campaign) as report:
        for event in events:
            campaign(event)
            report(event)
    if not terminal:
        return screen.getvalue()
    # What the live view leaves behind; wider than the console, so that no line is wrapped.
    seen = pyte.Screen(300, 200)
    pyte.Stream(seen).feed(screen.getvalue().replace("\n", "\r\n"))
    return "\n".join(line.rstrip() for line in seen.display).rstrip("\n") + "\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_console_shows_difference_path_and_command(folder: Folder, *, terminal: bool) -> None:
    shown = shown_at_the_end(folder, EVENTS, Tally(), terminal=terminal)
    file = folder.repro(FINDING.fingerprint)
    assert f"new: {FINDING.check} {FINDING.kind}: line 0\n" in shown
    assert f"  {UNFLATTEN}; 2 programs, first 1\n" in shown
    assert f"  $ python {file}\n" in shown
    assert OTHER.fingerprint not in shown
    assert "not counted, because no fresh process shows it: 1 new\n" in shown
    assert "  KeyError: 'ours'\n" in shown
    assert "export refused: nonstrict 1 of 4; reasons: summary.json\n" in shown
    assert "5 programs in 2 s, 2.5/s: 1 new, 0 masked, 0 regressions of fixes\n" in shown
    assert shown.endswith(f"files: {folder.root}: findings/, summary.json, events.ndjson\n")
    assert not any(line != line.rstrip() for line in shown.splitlines())


def test_console_says_what_to_do_next_when_there_is_no_finding(folder: Folder) -> None:
    shown = shown_at_the_end(folder, (EVENTS[0], EVENTS[1], EVENTS[-1]), Tally())
    assert "see a program with: exportdiff show --seed 7 --example 0 --profile wide\n" in shown
    assert "export refused" not in shown and "known" not in shown


LONG = Path("nonstrict", "unflatten", ("preserve", "reexport_unflattened", "swap_leaves"), "cpu")
LONG_PATH = str(LONG)
LONG_NAME = "a_fix_or_an_entry_with_a_name_of_more_than_fifty_letters_"


def crowd() -> Iterator[Event]:
    """Yield a campaign with more of everything than fits a screen, under names that are long."""
    yield replace(STARTED, seconds=60.0, examples=None, seed=123456, profile="control-flow", shard=(12, 34))
    message = "call 0: an attribute with a name of its own differs in everything " * 3
    for number in range(12):
        one = replace(make_finding(f"word{number}", message=message), path=LONG, shown_on=())
        kinds = (
            Classification(),
            Classification("masked", ("mend_it",)),
            Classification("regression", (f"{LONG_NAME}{number}",)),
        )
        yield example(number, one.fingerprint, refused=True)
        yield FindingFound(1.0, one, number, "x\n", "x\n", kinds[number % 3])
        if number % 3 == 0:
            same = replace(one, path=parse(MODULE), shown_on=())
            yield FindingFound(1.0, same, number, "x\n", "x\n")
            yield NotMinimized(70.0, one.fingerprint, NO_TIME)
            yield NotMinimized(70.0, same.fingerprint, "another reason")
        yield KnownSeen(2.0, f"{LONG_NAME}{number}", "", FINDING, number)
        yield HarnessError(2.0, number, f"Traceback\nValueError: {number} {message}")
        yield replace(example(99), at=10.0 * number, known=(f"{LONG_NAME}{number}",), sampled=number == 0)
    for number in range(12):
        yield MinimizingStarted(111.0 + 6 * number, number + 1, 12, one.fingerprint, 3.0, 60.0)
    yield FindingUnconfirmed(2.0, OTHER, 5, "ok", Classification("masked", ("mend_it",)))
    yield CampaignFinished(200.0, "interrupted", 3, 60.0)


@pytest.mark.parametrize("terminal", [False, True])
def test_the_end_of_a_campaign_fits_one_screen(folder: Folder, *, terminal: bool) -> None:
    small = Folder(pathlib.Path("exportdiff-out"))
    shown = shown_at_the_end(small, crowd(), Tally(), terminal=terminal)
    _, _, end = shown.rpartition("is written at once to" if terminal else "11 of 12")
    lines = end.splitlines()[1:]
    # Six of them are errors of exportdiff.
    assert len(lines) <= 35
    # Only a path, or names of fixes that may not be cut, make a line longer.
    assert [line for line in lines if len(line) > 80] == [f"regressions of fixes: {LONG_NAME}11 and 3 more"]
    blocks = [line for line in lines if line.startswith(("new: ", "masked: "))]
    assert [block.partition(":")[0] for block in blocks] == ["new"] * 4 + ["masked"]
    assert all(block.endswith("…") for block in blocks)
    assert sum(LONG_PATH in line or "; also on 1 more path" in line for line in lines) == 5
    assert "and 3 more findings: exportdiff-out/findings" in lines
    assert "not minimized: 8, 4 of them for lack of time; see summary.json" in lines
    assert "not counted, because no fresh process shows it: 1 masked" in lines
    assert "known: 12 bugs, searched in 13 of 24 programs; all in summary.json" in lines


def test_known_bugs_that_are_fixed_in_a_newer_torch_are_counted_apart(tmp_path: pathlib.Path) -> None:
    (tmp_path / OPEN).mkdir()
    for name, rows in {"mended": {"1.0": "shows", "2.0": "fixed"}, "there": {"2.0": "shows"}}.items():
        table = "\n".join(f'# "{torch}" = "{shown}"' for torch, shown in rows.items())
        header = f'# [tool.exportdiff]\n# status = "open"\n# [tool.exportdiff.versions]\n{table}'
        text = f"# /// script\n{header}\n# ///\ndef make(): ...\n"
        (tmp_path / OPEN / f"{name}.py").write_text(text)
    tally = Tally(corpora=tmp_path)
    for name in ("mended", "there", "gone"):
        tally(KnownSeen(2.0, name, name, FINDING, 1))
    assert (len(tally.known), tally.known_fixed) == (3, 1)


def test_the_end_of_a_campaign_names_the_ids_of_known_bugs(folder: Folder) -> None:
    names = ("strict_drops_assigned_buffer", "not_in_the_corpus")
    seen = [KnownSeen(1.0, name, name, FINDING, 3) for name in names]
    end = [CampaignFinished(2.0, "examples")]
    lines = shown_at_the_end(folder, [*seen, *end], Tally(corpora=CORPORA)).splitlines()
    named = {"  0 programs: XD200 strict_drops_assigned_buffer", "  0 programs: not_in_the_corpus"}
    assert named < set(lines)


def test_progress_lines_are_short_and_say_what_is_minimized(folder: Folder) -> None:
    lines = shown_at_the_end(folder, [*crowd()][:-1], Tally()).splitlines()
    said = [line.split()[1] for line in lines if line.startswith("minimizing ")]
    assert said == ["1", "3", "5", "7", "9", "11"]  # not more often than every ten seconds
    assert sum(" new, " in line for line in lines) == 11
    assert max(len(line) for line in lines if str(folder.root) not in line) <= 80


def test_names_that_do_not_fit_are_counted() -> None:
    assert fitted(["one", "two", "three"], 20) == "one, two, three"
    assert fitted(["one", "two", "three"], 14) == "one and 2 more"
    assert fitted(["one", "two", "three"], 5) == "one and 2 more"
    assert fitted(["one", "two", "three"], 9, "; ", count=False) == "one; two"


def test_a_finding_that_a_later_program_confirms_is_counted_once() -> None:
    tally = Tally()
    masked = Classification("masked", ("mend_it",))
    tally(FindingUnconfirmed(1.0, FINDING, 1, "ok", masked))
    assert tally.unconfirmed_by_class == {"new": 0, "masked": 1, "regression": 0}
    tally(FindingFound(2.0, FINDING, 2, "x\n", "x\n", masked))
    assert tally.unconfirmed_by_class == {"new": 0, "masked": 0, "regression": 0}
    assert FindingUnconfirmed(1.0, FINDING, 1, "ok", masked).as_dict()["standing"]["kind"] == "masked"


def test_the_default_profile_goes_without_saying() -> None:
    assert show_command(3, 4, "default") == "exportdiff show --seed 3 --example 4"


def test_folder_is_cleared_of_its_own_files_only(folder: Folder) -> None:
    folder.summary.write_text("{}")
    folder.repro("0123").write_text("old")
    mine = folder.root / "notes.txt"
    mine.write_text("keep")
    folder.prepare()
    assert not folder.summary.exists()
    assert list(folder.findings.iterdir()) == []
    assert mine.read_text() == "keep"


def test_folder_must_not_be_a_file(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "out"
    file.write_text("")
    with pytest.raises(UsageError, match="is a file"):
        Folder(file).prepare()


def test_what_a_user_wrote_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = "mine.py:one: sizes[bold] differ"
    make_console().print(text)
    assert capsys.readouterr().out.strip() == text

"""Listeners: what they write for a stream of events."""

from __future__ import annotations

import io
import json
import pathlib
from dataclasses import replace

import pytest
from evidence_of import make_finding
from rich.console import Console

from harness.engine.events import (
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
)
from harness.errors import UsageError
from harness.judge.verdict import PathResult, Status
from harness.known.standing import Standing
from harness.paths import parse
from harness.reporting.console import ConsoleReport
from harness.reporting.folder import Folder
from harness.reporting.ndjson import NdjsonLog
from harness.reporting.repro_files import ReproFiles
from harness.reporting.summary import SummaryFile, summary_document
from harness.reporting.tally import Tally
from harness.reporting.text import show_command

MODULE, UNFLATTEN = "nonstrict:module@cpu", "nonstrict:unflatten@cpu"
FINDING = make_finding("value", message="\n".join(f"line {number}" for number in range(15)))
OTHER = make_finding("dtype")


def example(index: int, *fingerprints: str, refused: bool = False, valid: bool = True) -> Event:
    status: Status = "unsupported" if refused else "ok"
    paths = (
        PathResult(parse(MODULE), status, "data-dependent" if refused else ""),
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


EVENTS: tuple[Event, ...] = (
    CampaignStarted(0.0, 7, 5, None, 2, (MODULE, UNFLATTEN), "cpu", "wide", (1, 1), "2.13.0", "3.11.7"),
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
    (finding,) = summary_document(tally)["findings"]
    assert (finding["fingerprint"], finding["count"]) == ("abcdef0123", 3)
    assert finding["repro"] == f"findings/{FINDING.fingerprint}.py"


def test_known_findings_point_to_their_files(folder: Folder) -> None:
    tally = Tally(folder.root, folder.root.parent / "corpora")
    tally(KnownSeen(1.0, "add_rightly", "adds_wrongly", FINDING, 3))
    tally(KnownSeen(1.0, "nameless", "", FINDING, 3, "attribution ran out of time"))
    tally(ExampleDone(1.0, 3, True, "", (), (), (), ("add_rightly", "nameless"), 0.5, 0.6))
    tally(ExampleDone(1.0, 4, True, "", (), (), (), (), 0.5, 0.6, sampled=False))
    document = summary_document(tally)
    finding, other = document["findings"]
    assert (finding["known"], finding["root_cause"], finding["count"]) == (True, "add_rightly", 1)
    assert finding["entry"] == "adds_wrongly"
    assert finding["repro"] == "../corpora/open/adds_wrongly.py"
    # No entry names this fix.
    assert other["repro"] == "../corpora/fixes/nameless.patch"
    assert other["remark"] == "attribution ran out of time"
    assert document["known"] == {"add_rightly": 1, "nameless": 1}
    assert document["known_sample"]["programs"] == 1
    assert tally.new == tally.unconfirmed == 0


def test_masked_findings_and_regressions_are_lists_of_their_own(folder: Folder) -> None:
    tally = Tally()
    masked = Standing("masked", ("mend_it",), "the search ran out of time")
    stream = io.StringIO()
    report = ConsoleReport(Console(file=stream, width=120), folder, tally)
    for event in (
        EVENTS[0],
        example(0, FINDING.fingerprint, OTHER.fingerprint),
        FindingFound(1.0, FINDING, 0, "x = 1\n", "first\n", masked),
        FindingFound(1.0, OTHER, 0, "x = 1\n", "first\n", Standing("regression", ("break_it",))),
        CampaignFinished(2.0, "examples", 0, 2.0),
    ):
        tally(event)
        report(event)
    document = summary_document(tally)
    assert document["findings"] == [] and tally.new == 0
    (one,), (other,) = document["masked"], document["regressions"]
    assert (one["fixes"], one["remark"]) == (["mend_it"], "the search ran out of time")
    assert (other["fixes"], other["fingerprint"]) == (["break_it"], OTHER.fingerprint)
    assert "with these fixes in place: mend_it" in stream.getvalue()
    assert "remark: the search ran out of time" in stream.getvalue()
    assert "1 masked, 1 regressions of fixes" in stream.getvalue()
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
        "torch": "2.13.0",
        "python": "3.11.7",
        "seed": 7,
        "profile": "wide",
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
        "known_sample": {"every": 1, "programs": 5},
        "masked": [],
        "regressions": [],
        "unconfirmed": 1,
        "harness_errors": 1,
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


@pytest.mark.parametrize("terminal", [False, True])
def test_console_shows_difference_and_commands(folder: Folder, *, terminal: bool) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=100, no_color=True)
    tally = Tally()
    report = ConsoleReport(console, folder, tally)
    for event in EVENTS:
        tally(event)
        report(event)
    shown = screen.getvalue()
    file = folder.repro(FINDING.fingerprint)
    assert "outputs mismatch on nonstrict:unflatten@cpu" in shown
    assert "line 9" in shown
    assert "line 10" not in shown
    assert f"$ python {file}\n" in shown or terminal
    assert f"exportdiff check {file}:make --paths {UNFLATTEN}" in shown
    assert OTHER.fingerprint not in shown
    assert "KeyError: 'ours'" in shown
    last = shown.strip().splitlines()[-1]
    assert last.startswith("1 new findings; reproduce one with: python ")
    if not terminal:
        assert "x = [1]" not in shown  # the file has the program; minimizing prints it
        assert not any(line != line.rstrip() for line in shown.splitlines() if "=" in line)


def test_console_says_what_to_do_next_when_there_is_no_finding(folder: Folder) -> None:
    screen = io.StringIO()
    tally = Tally()
    report = ConsoleReport(Console(file=screen, width=100), folder, tally)
    for event in (EVENTS[0], EVENTS[1], EVENTS[-1]):
        tally(event)
        report(event)
    shown = screen.getvalue()
    assert shown.splitlines()[-1].endswith("exportdiff show --seed 7 --example 0 --profile wide")
    assert "nonstrict export: refused 0 of 1 programs (0.0 %)\n" in shown


def test_console_says_what_export_refused(folder: Folder) -> None:
    screen = io.StringIO()
    tally = Tally()
    report = ConsoleReport(Console(file=screen, width=100), folder, tally)
    for event in EVENTS:
        tally(event)
        report(event)
    assert "nonstrict export: refused 1 of 4 programs (25.0 %)\n  1 data-dependent\n" in screen.getvalue()


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

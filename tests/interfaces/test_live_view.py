"""The live view of a campaign: what a terminal of any size shows while programs run."""

from __future__ import annotations

import io
import pathlib
import re
from dataclasses import replace

import pyte
import pytest
from rich.console import Console

from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    ComparingStarted,
    Event,
    ExampleDone,
    FindingFound,
    HarnessError,
    KnownSeen,
    MinimizingStarted,
)
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.console import ConsoleReport
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.live_view import CampaignNumbers, LatestFinding, LiveView, TableRow
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.judging.results import PathResult
from exportdiff.known.attribution.classification import Classification
from exportdiff.runtime.paths import all_paths
from support.evidence_of import make_finding

PATHS = tuple(all_paths(["cpu"]))[:30]
FINDING = make_finding("value", message="call 0: output differs in value " * 5)
CAUSES = tuple(f"a_root_cause_with_a_name_of_more_than_forty_letters_{number}" for number in range(12))


def started(**changes: object) -> CampaignStarted:
    names = tuple(map(str, PATHS))
    plain = CampaignStarted(0.0, 7, None, 600.0, 2, names, "cpu", "default", (1, 1), "2.13.0", "3.11.7")
    return replace(plain, **changes)  # type: ignore[arg-type]  # the fields have different types


def programs(number: int, seconds: float) -> list[Event]:
    """Programs that show every known bug, and findings on some paths."""
    results = tuple(
        PathResult(path, "finding" if place % 7 == 3 else "ok") for place, path in enumerate(PATHS)
    )
    return [
        ExampleDone(seconds * (k + 1) / number, k, True, "", (), results, (), CAUSES[: 1 + k % 12], 0.5, 0.6)
        for k in range(number)
    ]


def screen_after(events: list[Event], folder: Folder, rows: int, columns: int) -> list[str]:
    """The lines of a terminal on which a campaign has come so far; it ends afterwards."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=columns, height=rows, color_system="standard")
    campaign = CampaignReport(Tally())
    with ConsoleReport(console, folder, campaign) as report:
        for event in events:
            campaign(event)
            report(event)
        assert report._live is not None
        report._live.refresh()
        shown = stream.getvalue()
    terminal = pyte.Screen(columns, rows)
    pyte.Stream(terminal).feed(shown.replace("\n", "\r\n"))
    return [line.rstrip() for line in terminal.display]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(pathlib.Path("out"))


def everything() -> list[Event]:
    known: list[Event] = [KnownSeen(1.0, cause, "", FINDING, 0) for cause in CAUSES]
    masked = make_finding("dtype")
    return [
        started(),
        *known,
        *programs(60, 120.0),
        FindingFound(115.0, FINDING, 58, "x = 1\n", "x = 1\n"),
        FindingFound(118.0, masked, 59, "x = 1\n", "x = 1\n", Classification("masked", ("mend_it",))),
        HarnessError(120.0, 5, "Traceback\nKeyError: 'ours'"),
    ]


def test_a_terminal_of_80_columns_and_24_rows_shows_all_of_it(folder: Folder) -> None:
    lines = screen_after(everything(), folder, 24, 80)
    text = "\n".join(lines)
    # The clock goes on while the screen is drawn.
    counts = r"  2:0\d  60 programs  0\.5/s  (8:00|7:5\d) left  1 new, 1 masked, 12 known, 1 error"
    assert [line for line in lines if re.fullmatch(counts, line)]
    head = next(n for n, line in enumerate(lines) if line.startswith("paths"))
    assert lines[head].split() == ["paths", "runs", "ok", "refused", "findings"]
    # Paths with findings come first.
    rows = [line.split() for line in lines[head + 1 :] if "@cpu" in line]
    assert [row[1:] for row in rows[:4]] == [["60", "0", "0", "60"]] * 4
    assert ["60", "60", "0", "0"] in [row[1:] for row in rows]
    assert f"and {30 - sum('@cpu  ' in line for line in lines)} more" in text
    assert [CAUSES[0], "60"] in [line.split() for line in lines]
    assert [line for line in lines if line.startswith("last new: outputs mismatch: call 0: output differs")]
    assert f"  $ python out/findings/{FINDING.fingerprint}.py" in lines
    assert all(len(line) < 80 for line in lines)


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (12, 80), (6, 40), (3, 30), (50, 200)])
def test_it_is_never_larger_than_the_terminal(folder: Folder, rows: int, columns: int) -> None:
    lines = screen_after(everything(), folder, rows, columns)
    # What a view that is too high scrolls away is its first line.
    assert any("60 programs" in line for line in lines)
    assert all(len(line) < columns or "out/findings" in line or "fuzzing" in line for line in lines)


def test_the_view_is_gone_after_the_campaign(folder: Folder) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, height=24, color_system=None)
    campaign = CampaignReport(Tally())
    with ConsoleReport(console, folder, campaign) as report:
        for event in [*everything(), CampaignFinished(130.0, "time", 0, 120.0)]:
            campaign(event)
            report(event)
    terminal = pyte.Screen(80, 60)
    pyte.Stream(terminal).feed(stream.getvalue().replace("\n", "\r\n"))
    text = "\n".join(terminal.display)
    assert "last new" not in text and "refused  findings" not in text
    assert "60 programs in 120 s, 0.5/s:" in text and "1 new, 1 masked, 0 regressions of fixes" in text


def test_the_line_fits_any_width_and_says_how_much_is_left() -> None:
    view = LiveView()
    view.begins(started(seconds=7200.0))
    assert "starting" in view.line(80).plain
    view.judged(CampaignNumbers(programs=123456, new=123, masked=45, known=151), 3600.0)
    counts = "123 new, 45 masked, 151 known"
    assert view.line(90, 3600.0).plain == f"1:00:00  123,456 programs  34.3/s  1:00:00 left  {counts}"
    assert view.line(70, 3600.0).plain == f"1:00:00  123,456 programs  34.3/s  {counts}"
    assert view.line(60, 3600.0).plain == f"1:00:00  123,456 programs  {counts}"
    assert view.line(30, 3600.0).plain == "1:00:00  123,456 programs"
    view.minimizes(MinimizingStarted(80.0, 2, 5, "0123456789", 23.0, 60.0))
    assert view.line(80).plain == "minimizing 2 of 5: 0123456789 (23 s of 60 s)"
    assert view.line(40).plain == "minimizing 2 of 5: 0123456789"
    view.compares(ComparingStarted(90.0, 1, 0))
    assert view.line(80).plain == "comparing with the other torch: 1 finding"


def test_the_time_left_is_estimated_for_the_shard() -> None:
    view = LiveView()
    view.begins(started(seconds=None, examples=100, shard=(2, 4)))
    view.judged(CampaignNumbers(programs=5), 10.0)
    assert "left" not in view.line(80, 10.0).plain  # too early to tell
    view.judged(CampaignNumbers(programs=20), 40.0)
    assert "about 10 s left" in view.line(80, 40.0).plain
    view.begins(started(seconds=None, examples=None))


def test_what_has_no_room_is_counted() -> None:
    view = LiveView()
    rows = tuple(TableRow(f"path {number}", (1, 1, 0, 0)) for number in range(8))
    view.judged(CampaignNumbers(programs=1, paths=rows, more_paths=5), 1.0)
    view.found(LatestFinding("outputs mismatch", "nonstrict:module@cpu", 1.0, "python out/x.py"))
    assert "and 5 more" in [line.plain for line in view.lines(80, 40)]
    assert "and 9 more" in [line.plain for line in view.lines(80, 12)]
    assert not any("path" in line.plain.split() for line in view.lines(80, 6))

"""What a campaign prints: a live view on a terminal, plain lines elsewhere, and one screen at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from exportdiff.core.programs import DEFAULT_PROFILE
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    ComparingStarted,
    Event,
    ExampleDone,
    FindingFound,
    HarnessError,
    MinimizingStarted,
)
from exportdiff.fuzzing.campaign.own_errors import SAME_ERRORS
from exportdiff.interfaces.reports.closing_screen import end_lines
from exportdiff.interfaces.reports.commands import repro_command
from exportdiff.interfaces.reports.live_view import CampaignNumbers, LatestFinding, LiveView
from exportdiff.interfaces.reports.text import left_out_line
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import FIXES

if TYPE_CHECKING:
    from rich.console import Console

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.folder import Folder

PLAIN_EVERY = 10.0
"""Seconds between two progress lines where there is no live view."""
LIVE_EVERY = 0.25
"""Seconds between two updates of the live view."""
WIDTH = 80
"""The width of lines where standard output is not a terminal."""
ERRORS = 3
"""How many different errors of exportdiff are printed at the end; events.ndjson has all."""


class ConsoleReport:
    """Prints what happens. It reads the sums of ``campaign``, which must receive each event first."""

    def __init__(self, console: Console, folder: Folder, campaign: CampaignReport) -> None:
        """Print to ``console``."""
        self._console = console
        self._folder = folder
        self._campaign = campaign
        self._tally = campaign.tally
        self._live: Live | None = None
        self._view = LiveView()
        self._printed = 0.0
        self._errors: dict[str, int] = {}
        self._traceback = ""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self._start(event)
        elif isinstance(event, ExampleDone):
            self._progress(event)
        elif isinstance(event, FindingFound):
            self._found(event)
        elif isinstance(event, MinimizingStarted):
            self._view.minimizes(event)
            if event.number == 1:
                self._printed = -PLAIN_EVERY
            self._plainly(event)
        elif isinstance(event, ComparingStarted):
            self._view.compares(event)
            self._printed = -PLAIN_EVERY
            self._plainly(event)
        elif isinstance(event, HarnessError):
            last = event.traceback.strip().splitlines()[-1] if event.traceback.strip() else ""
            self._errors[last] = self._errors.get(last, 0) + 1
            self._traceback = event.traceback
            self._view.judged(CampaignNumbers.of(self._tally), event.at)
        elif isinstance(event, CampaignFinished):
            self._finish(event)

    def __enter__(self) -> ConsoleReport:
        """Do nothing: the live view appears when the campaign starts."""
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the live view, and show the cursor again."""
        if self._live:
            self._live.stop()

    @property
    def _width(self) -> int:
        # Some terminals wrap a line that fills the last column.
        return (self._console.width if self._console.is_terminal else WIDTH) - 1

    def _print(self, line: Text) -> None:
        # A path or a command that the terminal wraps can still be pasted.
        self._console.print(line, soft_wrap=True)

    def _start(self, event: CampaignStarted) -> None:
        budget = "until interrupted"
        if event.examples is not None:
            budget = counted(event.examples, "program")
        elif event.seconds is not None:
            budget = f"{event.seconds:g} s"
        parts = [budget, f"seed {event.seed}"]
        parts += [f"around {event.around}"] * bool(event.around)
        parts += [f"near {event.near or 'the corpus'}"] * (event.near is not None)
        parts += [f"profile {event.profile}"] * (event.profile != DEFAULT_PROFILE)
        parts += [f"shard {event.shard[0]}/{event.shard[1]}"] * (event.shard != (1, 1))
        parts += [counted(event.workers, "worker"), counted(len(event.paths), "path"), f"torch {event.torch}"]
        self._console.print(Text(f"fuzzing: {', '.join(parts)}"), width=self._width)
        if event.against:
            self._print(Text(f"findings are compared with torch {event.against}"))
        if line := left_out_line(event.torch, event.left_out):
            self._print(Text(line))
        if not (self._tally.corpora / FIXES).is_dir():
            self._print(Text("there is no corpus, so known bugs are reported as new"))
        self._print(Text(f"each finding is written at once to {self._folder.findings}"))
        self._view.begins(event)
        if self._console.is_interactive:
            self._live = Live(
                console=self._console,
                get_renderable=lambda: self._view,
                refresh_per_second=1 / LIVE_EVERY,
                transient=True,
            )
            self._live.start()

    def _progress(self, event: ExampleDone) -> None:
        self._view.judged(CampaignNumbers.of(self._tally), event.at)
        self._plainly(event)

    def _found(self, event: FindingFound) -> None:
        self._view.judged(CampaignNumbers.of(self._tally), event.at)
        if event.classification.kind == "new":
            finding = event.finding
            command = repro_command(self._folder.repro(finding.fingerprint), (), self._tally.corpora)
            self._view.found(LatestFinding(finding.title, str(finding.path), event.at, command))

    def _plainly(self, event: Event) -> None:
        """Print a progress line from time to time if there is no live view."""
        if not self._live and event.at - self._printed >= PLAIN_EVERY:
            self._printed = event.at
            self._print(self._view.line(WIDTH, event.at))

    def _finish(self, event: CampaignFinished) -> None:
        if self._live:
            self._live.stop()
        for line, number in list(self._errors.items())[:ERRORS]:
            self._print(
                Text(f"error of exportdiff, {counted(number, 'time')}; traceback: events.ndjson", "bold red")
            )
            error = Text(f"  {line}")
            error.truncate(self._width, overflow="ellipsis")
            self._print(error)
        if event.reason == "errors":
            self._print(Text(f"{self._traceback.strip()}\n"))
            self._print(
                Text(f"the campaign ends after {SAME_ERRORS} errors of exportdiff at one place", "bold red")
            )
        if event.reason == "interrupted":
            self._print(Text("interrupted; the findings so far are written"))
        for each in end_lines(self._campaign, self._folder, self._width):
            self._print(each)

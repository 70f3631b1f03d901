"""What a campaign prints: a live line on a terminal, plain lines elsewhere, and one screen at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from harness.engine.events import (
    CampaignFinished,
    CampaignStarted,
    ComparingStarted,
    Event,
    ExampleDone,
    HarnessError,
    MinimizingStarted,
)
from harness.engine.own_errors import SAME_ERRORS
from harness.programs import DEFAULT_PROFILE
from harness.reporting.screen import counted, end_lines
from harness.reporting.text import left_out_line

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from harness.reporting.folder import Folder
    from harness.reporting.tally import Tally

PLAIN_EVERY = 10.0
"""Seconds between two progress lines, where one does not replace the other."""
LIVE_EVERY = 0.25
"""Seconds between two updates of the live line."""
WIDTH = 80
"""The width of lines where standard output is not a terminal."""
ERRORS = 3
"""How many different errors of exportdiff the end of a campaign lists; events.ndjson has all."""


class ConsoleReport:
    """Prints what happens. It reads the numbers from the tally: feed the tally first."""

    def __init__(self, console: Console, folder: Folder, tally: Tally) -> None:
        """Print to ``console``."""
        self._console = console
        self._folder = folder
        self._tally = tally
        self._live: Live | None = None
        self._status = StatusLine()
        self._printed = 0.0
        self._errors: dict[str, int] = {}
        self._traceback = ""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self._start(event)
        elif isinstance(event, ExampleDone):
            self._progress(event)
        elif isinstance(event, MinimizingStarted):
            self._status.minimizes(event)
            if event.number == 1:
                self._printed = -PLAIN_EVERY
            self._plainly(event)
        elif isinstance(event, ComparingStarted):
            self._status.compares(event)
            self._printed = -PLAIN_EVERY
            self._plainly(event)
        elif isinstance(event, HarnessError):
            last = event.traceback.strip().splitlines()[-1] if event.traceback.strip() else ""
            self._errors[last] = self._errors.get(last, 0) + 1
            self._traceback = event.traceback
        elif isinstance(event, CampaignFinished):
            self._finish(event)

    def __enter__(self) -> ConsoleReport:
        """Do nothing: the live line appears when the campaign starts."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the live line, and show the cursor again."""
        if self._live:
            self._live.stop()

    @property
    def _width(self) -> int:
        # Some terminals wrap a line that fills the last column.
        return (self._console.width if self._console.is_terminal else WIDTH) - 1

    def _print(self, line: Text) -> None:
        # Only the terminal wraps: a path or a command that it wraps can still be pasted.
        self._console.print(line, soft_wrap=True)

    def _start(self, event: CampaignStarted) -> None:
        budget = "until interrupted"
        if event.examples is not None:
            budget = counted(event.examples, "program")
        elif event.seconds is not None:
            budget = f"{event.seconds:g} s"
        parts = [budget, f"seed {event.seed}"]
        parts += [f"profile {event.profile}"] * (event.profile != DEFAULT_PROFILE)
        parts += [f"shard {event.shard[0]}/{event.shard[1]}"] * (event.shard != (1, 1))
        parts += [counted(event.workers, "worker"), counted(len(event.paths), "path"), f"torch {event.torch}"]
        self._console.print(Text(f"fuzzing: {', '.join(parts)}"), width=self._width)
        if event.against:
            self._print(Text(f"what is found is compared with torch {event.against}"))
        if line := left_out_line(event.torch, event.left_out):
            self._print(Text(line))
        self._print(Text(f"each finding is written at once to {self._folder.findings}"))
        if self._console.is_interactive:
            self._live = Live(
                console=self._console,
                get_renderable=lambda: self._status.line(self._console.width),
                refresh_per_second=1 / LIVE_EVERY,
                transient=True,
            )
            self._live.start()

    def _progress(self, event: ExampleDone) -> None:
        tally = self._tally
        counts = f"{tally.new} new, {len(tally.of_kind('masked'))} masked, {len(tally.known)} known"
        self._status.judged(tally.examples, counts)
        self._plainly(event)

    def _plainly(self, event: Event) -> None:
        """Print a line now and then, where there is no live line."""
        if not self._live and event.at - self._printed >= PLAIN_EVERY:
            self._printed = event.at
            self._print(self._status.line(WIDTH, event.at))

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
                Text(f"{SAME_ERRORS} errors of exportdiff from one place: the campaign ends here", "bold red")
            )
        if event.reason == "interrupted":
            self._print(Text("interrupted; the findings so far are written"))
        for each in end_lines(self._tally, self._folder, self._width):
            self._print(each)


class StatusLine:
    """What a campaign is doing now, in one line that is never wider than the terminal.

    A thread of the live line asks for it while the campaign goes on, so it holds plain values only.
    """

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._started = time.monotonic()
        self._programs = 0
        self._counts = "starting"
        self._minimizing = ""
        self._comparing = ""
        self._since = 0.0
        self._limit = 0.0

    def judged(self, programs: int, counts: str) -> None:
        """Another program was judged."""
        self._programs, self._counts = programs, counts

    def minimizes(self, event: MinimizingStarted) -> None:
        """The campaign waits for a finding to be minimized."""
        self._since, self._limit = time.monotonic() - event.spent, event.limit
        self._minimizing = f"minimizing {event.number} of {event.total}: {event.fingerprint}"

    def compares(self, event: ComparingStarted) -> None:
        """The campaign waits for the other torch."""
        self._minimizing = ""
        self._comparing = f"comparing with the other torch: {counted(event.findings, 'finding')}"

    def line(self, width: int, at: float | None = None) -> Text:
        """Return the line; ``at``: the seconds since the start, where they are known."""
        now = time.monotonic()
        if self._comparing:
            return _fitting(width, self._comparing)
        if self._minimizing:
            spent = f"{now - self._since:.0f} s of {self._limit:.0f} s"
            return _fitting(width, f"{self._minimizing} ({spent})", self._minimizing)
        seconds = now - self._started if at is None else at
        rate = self._programs / seconds if seconds else 0.0
        short = f"{seconds:6.0f} s  {counted(self._programs, 'program')}"
        return _fitting(width, f"{short}  {rate:.1f}/s  {self._counts}", f"{short}  {self._counts}", short)


def _fitting(width: int, *forms: str) -> Text:
    """Return the first form that fits; of the last, what fits."""
    # Some terminals wrap a line that fills the last column.
    form = next((form for form in forms if len(form) < width), forms[-1])
    return Text(form, no_wrap=True, overflow="crop")

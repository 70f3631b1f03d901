"""The live view of a campaign on a terminal. It is never wider or higher than the terminal."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from exportdiff.interfaces.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from exportdiff.fuzzing.campaign.events import CampaignStarted, ComparingStarted, MinimizingStarted
    from exportdiff.interfaces.reports.tally import Tally

PATHS = 10
"""The most rows of the table of paths."""
CAUSES = 5
"""The most rows of the table of known bugs."""
ESTIMATED_AFTER = 10
"""With ``--examples``, the remaining time is estimated after this number of programs."""


@dataclass(frozen=True)
class TableRow:
    """One row of a table: a name, and the numbers of its columns."""

    name: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class CampaignNumbers:
    """The sums so far, as plain values: another thread reads them while programs run."""

    programs: int = 0
    new: int = 0
    masked: int = 0
    known: int = 0
    errors: int = 0
    paths: tuple[TableRow, ...] = ()
    more_paths: int = 0
    causes: tuple[TableRow, ...] = ()
    more_causes: int = 0

    @classmethod
    def of(cls, tally: Tally) -> CampaignNumbers:
        """Return the sums of a tally, with the paths with most findings and the most frequent bugs."""
        used = [(name, each) for name, each in tally.paths.items() if each.runs]
        used.sort(key=lambda pair: (-pair[1].findings, -pair[1].runs, pair[0]))
        causes = sorted(tally.known, key=lambda name: (-tally.occurrences[name], name))
        return cls(
            programs=tally.examples,
            new=tally.new,
            masked=len(tally.of_kind("masked")),
            known=len(tally.known),
            errors=tally.harness_errors,
            paths=tuple(
                TableRow(name, (each.runs, each.ok, each.unsupported, each.findings))
                for name, each in used[:PATHS]
            ),
            more_paths=max(len(used) - PATHS, 0),
            causes=tuple(TableRow(name, (tally.occurrences[name],)) for name in causes[:CAUSES]),
            more_causes=max(len(causes) - CAUSES, 0),
        )

    @property
    def counts(self) -> str:
        """The findings in a few words."""
        words = f"{self.new} new, {self.masked} masked, {self.known} known"
        return words + f", {counted(self.errors, 'error')}" * bool(self.errors)


@dataclass(frozen=True)
class LatestFinding:
    """The latest new finding."""

    what: str
    path: str
    at: float
    command: str


class LiveView:
    """What a campaign is doing now, as one line and as a view of the whole terminal.

    The thread of the live display reads it while the campaign runs, so it has plain values only.
    """

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._numbers = CampaignNumbers()
        self._last: LatestFinding | None = None
        self._examples: int | None = None
        self._seconds: float | None = None
        # The clock of a resumed campaign does not begin at 0.
        self._at = 0.0
        self._seen = time.monotonic()
        self._started = False
        self._minimizing = ""
        self._comparing = ""
        self._since = 0.0
        self._limit = 0.0

    def begins(self, event: CampaignStarted) -> None:
        """Set the limits of the campaign."""
        self._seconds = event.seconds
        part, parts = event.shard
        if event.examples is not None:
            self._examples = len(range(part - 1, event.examples, parts))

    def judged(self, numbers: CampaignNumbers, at: float) -> None:
        """Update the sums, ``at`` seconds after the start."""
        self._numbers, self._started = numbers, True
        self._at, self._seen = max(at, self._at), time.monotonic()

    def found(self, last: LatestFinding) -> None:
        """Show the latest new finding."""
        self._last = last

    def minimizes(self, event: MinimizingStarted) -> None:
        """Show that the campaign waits for a finding to be minimized."""
        self._since, self._limit = time.monotonic() - event.spent, event.limit
        self._minimizing = f"minimizing {event.number} of {event.total}: {event.fingerprint}"

    def compares(self, event: ComparingStarted) -> None:
        """Show that the campaign waits for the other torch."""
        self._minimizing = ""
        self._comparing = f"comparing with the other torch: {counted(event.findings, 'finding')}"

    def line(self, width: int, at: float | None = None) -> Text:
        """Return one line; ``at``: the seconds since the start; None: by the clock."""
        now = time.monotonic()
        if self._comparing:
            return _fitting(width, self._comparing)
        if self._minimizing:
            spent = f"{now - self._since:.0f} s of {self._limit:.0f} s"
            return _fitting(width, f"{self._minimizing} ({spent})", self._minimizing)
        seconds = self._now(now) if at is None else at
        numbers = self._numbers
        short = f"{_clock(seconds)}  {counted(numbers.programs, 'program')}"
        if not self._started:
            return _fitting(width, f"{short}  starting")
        rated = f"{short}  {self._rate(seconds):.1f}/s"
        left = self._left(seconds)
        return _fitting(
            width,
            f"{rated}  {left}  {numbers.counts}" if left else f"{rated}  {numbers.counts}",
            f"{rated}  {numbers.counts}",
            f"{short}  {numbers.counts}",
            short,
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render as much of the view as the terminal has room for."""
        # The cursor needs the line below the view.
        height = (options.height or console.height) - 1
        yield Group(*self.lines(options.max_width, height))

    def lines(self, width: int, height: int) -> list[Text]:
        """Return at most ``height`` lines, each shorter than ``width`` characters."""
        parts = [[self.line(width)], self._last_lines(width)]
        room = height - sum(map(len, parts))
        numbers = self._numbers
        causes = _table(
            ("known bugs", "programs"), numbers.causes, numbers.more_causes, width, min(CAUSES, room // 3 - 2)
        )
        room -= len(causes)
        headers = ("paths", "runs", "ok", "refused", "findings")
        paths = _table(headers, numbers.paths, numbers.more_paths, width, room - 3)
        return [line for part in (parts[0], paths, causes, parts[1]) for line in part][:height]

    def _last_lines(self, width: int) -> list[Text]:
        last = self._last
        if last is None:
            return []
        what = Text(f"last new: {last.what}")
        what.stylize("bold red", 0, len("last new"))
        where = Text(f"  {last.path}, after {_clock(last.at).strip()}", style="dim")
        command = Text(f"  $ {last.command}", style="cyan")
        return [_cut(each, width) for each in (Text(""), what, where, command)]

    def _now(self, now: float) -> float:
        return self._at + now - self._seen

    def _rate(self, seconds: float) -> float:
        return self._numbers.programs / seconds if seconds else 0.0

    def _left(self, seconds: float) -> str:
        """Return how long the campaign will still draw programs; empty: this is not known yet."""
        if self._seconds is not None:
            return f"{_clock(max(self._seconds - seconds, 0.0)).strip()} left"
        programs = self._numbers.programs
        if self._examples is None or programs < ESTIMATED_AFTER:
            return ""
        missing = max(self._examples - programs, 0)
        return f"about {_clock(missing / self._rate(seconds)).strip()} left" if self._rate(seconds) else ""


def _table(headers: Sequence[str], rows: Sequence[TableRow], more: int, width: int, room: int) -> list[Text]:
    """Return an empty line, the headers, as many rows as fit, and how many are left out.

    Return no line if no row fits.
    """
    shown = rows[: max(room, 0)]
    if not shown:
        return []
    more += len(rows) - len(shown)
    columns = [max(len(header) + 2, 8) for header in headers[1:]]
    names = width - 1 - sum(columns)
    head = _cells(headers[0], headers[1:], names, columns)
    head.stylize("bold")
    lines = [Text(""), head]
    lines += [_cells(row.name, map(str, row.numbers), names, columns) for row in shown]
    lines += [Text(f"and {more} more", style="dim")] * bool(more)
    return [_cut(line, width) for line in lines]


def _cells(name: str, numbers: Iterable[str], width: int, columns: Sequence[int]) -> Text:
    first = _cut(Text(name), width + 1)
    first.pad_right(max(width - len(first), 0))
    return first + Text("".join(number.rjust(size) for number, size in zip(numbers, columns, strict=True)))


def _cut(line: Text, width: int) -> Text:
    line.truncate(max(width - 1, 1), overflow="ellipsis")
    line.no_wrap = True
    return line


def _clock(seconds: float) -> str:
    """Return ``  59 s``, ``  12:34`` or ``1:02:03``, at least six characters wide."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s".rjust(6)
    hours, rest = divmod(whole, 3600)
    minutes = f"{rest // 60}:{rest % 60:02}" if not hours else f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return minutes.rjust(6)


def _fitting(width: int, *forms: str) -> Text:
    """Return the first form that fits; if none fits, the last one, cut."""
    # Some terminals wrap a line that fills the last column.
    form = next((form for form in forms if len(form) < width), forms[-1])
    return Text(form, no_wrap=True, overflow="crop")

"""What a campaign prints while it runs: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from harness.engine.events import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExampleDone,
    FindingFound,
    FindingMinimized,
    HarnessError,
)
from harness.reporting.text import finding_block, headline, show_command, standing_lines, table

if TYPE_CHECKING:
    from rich.console import Console

    from harness.reporting.folder import Folder
    from harness.reporting.tally import ExportTally, Tally

PLAIN_EVERY = 10.0
"""Seconds between two progress lines, where one does not replace the other."""
LIVE_EVERY = 0.25
"""Seconds between two updates of the live line."""
MOST = 5
"""How many known bugs and reasons of refusals the end of a campaign lists; summary.json has all."""


class ConsoleReport:
    """Prints what happens. It reads the numbers from the tally: feed the tally first."""

    def __init__(self, console: Console, folder: Folder, tally: Tally) -> None:
        """Print to ``console``."""
        self._console = console
        self._folder = folder
        self._tally = tally
        self._live: Live | None = None
        self._printed = 0.0
        self._errors: dict[str, tuple[int, str]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self._start(event)
        elif isinstance(event, ExampleDone):
            self._progress(event.at)
        elif isinstance(event, FindingFound):
            self._finding(event)
        elif isinstance(event, FindingMinimized):
            self._minimized(event)
        elif isinstance(event, HarnessError):
            last = event.traceback.strip().splitlines()[-1] if event.traceback.strip() else ""
            number, first = self._errors.get(last, (0, event.traceback))
            self._errors[last] = (number + 1, first)
        elif isinstance(event, CampaignFinished):
            self._finish(event)

    def _start(self, event: CampaignStarted) -> None:
        budget = "until interrupted"
        if event.examples is not None:
            budget = f"{event.examples} programs"
        elif event.seconds is not None:
            budget = f"{event.seconds:g} s"
        shard = "" if event.shard == (1, 1) else f", shard {event.shard[0]}/{event.shard[1]}"
        self._console.print(
            f"exportdiff: seed {event.seed}, profile {event.profile}, {budget}{shard}, "
            f"{event.workers} worker(s), torch {event.torch}, {len(event.paths)} paths",
            highlight=False,
        )
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()

    def _line(self, at: float) -> Text:
        tally = self._tally
        rate = tally.examples / at if at else 0.0
        masked = len(tally.of_kind("masked"))
        return Text(
            f"{at:6.0f} s  {tally.examples} programs  {rate:.1f}/s  "
            f"{tally.new} new, {masked} masked, {len(tally.known)} known",
            # On a terminal the line is redrawn: it must not wrap.
            no_wrap=True,
            overflow="ellipsis",
        )

    def _progress(self, at: float) -> None:
        every = LIVE_EVERY if self._live else PLAIN_EVERY
        if at - self._printed < every:
            return
        self._printed = at
        if self._live:
            self._live.update(self._line(at), refresh=True)
        else:
            self._console.print(self._line(at), soft_wrap=True)

    def _commands(self, fingerprint: str, path: str) -> tuple[str, str]:
        file = shlex.quote(str(self._folder.repro(fingerprint)))
        return (
            f"python {file}",
            f"exportdiff check {file}:make --paths {shlex.quote(path)}",
        )

    def _finding(self, event: FindingFound) -> None:
        commands = self._commands(event.finding.fingerprint, str(event.finding.path))
        # Without the program: the file has it, and minimizing shows the part of it that matters.
        block = finding_block(event.finding, commands, self._console)
        for line in standing_lines(event.standing):
            block.append(f"{line}\n", style="yellow")
        self._console.print(block, soft_wrap=True)

    def _minimized(self, event: FindingMinimized) -> None:
        self._console.print(Text(f"minimized ({event.tried} tried, {event.seconds:.0f} s)", style="dim"))
        commands = self._commands(event.was, str(event.finding.path))
        block = finding_block(event.finding, commands, self._console, source=event.source)
        self._console.print(block, soft_wrap=True)

    def _finish(self, event: CampaignFinished) -> None:
        if self._live:
            self._live.stop()
        self._console.print(self._line(event.at), soft_wrap=True)
        self._findings()
        for mode, exports in self._tally.exports.items():
            if "+" not in mode:
                self._console.print(_exports(mode, exports), highlight=False, soft_wrap=True)
        for number, traceback in self._errors.values():
            self._console.print(Text(f"harness error ({number} times):", style="bold red"))
            self._console.print(Text(traceback), soft_wrap=True)
        if event.reason == "interrupted":
            self._console.print("interrupted; the findings so far are written")
        self._console.print(Text(self._last_line()), soft_wrap=True)

    def _findings(self) -> None:
        often = sorted(self._tally.known.items(), key=lambda item: -self._tally.occurrences[item[0]])
        for name, shown in often[:MOST]:
            times = f"{self._tally.occurrences[name]} programs, first {shown.first_example}"
            remark = f"; {shown.remark}" if shown.remark else ""
            self._console.print(f"known: {name} ({times}{remark})", highlight=False)
        if len(often) > MOST:
            self._console.print(f"known: {len(often) - MOST} more, see summary.json", highlight=False)
        if self._tally.known and self._tally.sampled < self._tally.examples:
            self._console.print(
                f"known bugs were counted on {self._tally.sampled} of {self._tally.examples} programs",
                highlight=False,
            )
        if not self._tally.shown:
            return
        rows = table("fingerprint", "count", "finding", "example")
        for fingerprint, shown in self._tally.shown.items():
            what = headline(shown.finding).rpartition("  [")[0]
            if shown.standing.kind != "new":
                what = f"{shown.standing.kind}: {what}"
            rows.add_row(
                shown.finding.fingerprint,
                str(self._tally.occurrences[fingerprint]),
                what,
                str(shown.first_example),
            )
        self._console.print(rows)

    def _last_line(self) -> str:
        tally = self._tally
        if tally.shown:
            command, _ = self._commands(next(iter(tally.shown)), "")
            known = f" (and {len(tally.known)} known)" if tally.known else ""
            masked, wrong = tally.of_kind("masked"), tally.of_kind("regression")
            others = f", {len(masked)} masked" if masked else ""
            others += f", {len(wrong)} regressions of fixes" if wrong else ""
            return f"{tally.new} new findings{others}{known}; reproduce one with: {command}"
        started = tally.started
        command = show_command(started.seed, 0, started.profile) if started else "exportdiff show"
        nothing = f"nothing new ({len(tally.known)} known findings)" if tally.known else "no findings"
        return f"{nothing} in {tally.examples} programs; see one with: {command}"


def _exports(mode: str, exports: ExportTally) -> str:
    """Return the share of refused programs in one line, and the most frequent reasons below."""
    percent = 100 * exports.refused / exports.programs if exports.programs else 0.0
    reasons = [f"  {number} {reason}" for reason, number in exports.refusals.most_common(MOST)]
    head = f"{mode} export: refused {exports.refused} of {exports.programs} programs ({percent:.1f} %)"
    return "\n".join((head, *reasons))

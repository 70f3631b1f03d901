"""The report on one model for a console: a row for each path when it is judged, then the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from exportdiff.interfaces.checking.check_steps import Confirming, Explaining, PathDone
from exportdiff.interfaces.reports.commands import check_command
from exportdiff.interfaces.reports.text import finding_block
from exportdiff.interfaces.wording import counted

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from rich.console import Console
    from rich.status import Status

    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.check_steps import CheckStep
    from exportdiff.interfaces.checking.found import FailOn, Found, Meaning
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.judging.results import Outcome, PathResult

HEADINGS: dict[Meaning, str] = {
    "wrong": "wrong, without an error",
    "breaks": "breaks",
    "inside": "results are right, but the exported program differs from eager",
    "harmless": "known, harmless here",
}
"""The groups of findings, in the order in which they are printed."""

STYLES: dict[Outcome, str] = {
    "agrees": "green",
    "differs": "bold red",
    "refused": "yellow",
    "not judged": "yellow",
}


class PathRows:
    """Prints a row for each path when it is judged. Use it as a context manager."""

    def __init__(self, console: Console, paths: Sequence[Path]) -> None:
        """Print to ``console``; the longest name of ``paths`` sets the width of the first column."""
        self._console = console
        self._width = max((len(str(path)) for path in paths), default=0)
        self._left = len(paths)
        self._status: Status | None = None

    def __enter__(self) -> PathRows:
        """On a terminal, show what is being done."""
        if self._console.is_terminal:
            self._status = self._console.status(f"judging {self._left} paths", spinner="line")
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the last line."""
        if self._status is not None:
            self._status.stop()

    def on_step(self, step: CheckStep) -> None:
        """Print the row of a judged path, and show what is being done next."""
        if isinstance(step, PathDone):
            self._left -= 1
            self.row(str(step.result.path), step.result.outcome, note(step.result))
            if self._left:
                self._say(f"judging {self._left} more paths")
        elif isinstance(step, Confirming):
            self._say("judging the differences again in another process")
        elif isinstance(step, Explaining):
            self._say("looking for known bugs")

    def row(self, path: str, outcome: Outcome, text: str) -> None:
        """Print one row; on a terminal, it is cut to one line."""
        row = Text.assemble(f"{path:<{self._width}}  ", (f"{outcome:<10}", STYLES[outcome]), "  ", text)
        if self._console.is_terminal:
            row.truncate(self._console.width, overflow="ellipsis")
        self._console.print(row, soft_wrap=True, highlight=False)

    def _say(self, text: str) -> None:
        if self._status is not None:
            self._status.update(text)


def note(result: PathResult) -> str:
    """Return the text next to the outcome of a path: why torch refused it, or what was excused."""
    notes = [f"{name} (documented)" for name in result.excused]
    if result.first_call_because:
        notes.append("first call only")
    if result.outcome == "refused":
        return f"{result.reason}: {result.message.partition(chr(10))[0]}"
    if result.outcome == "not judged":
        notes.append(result.reason)
    return ", ".join(notes)


def print_report(report: Report, console: Console, fail_on: FailOn, corpora: pathlib.Path | None) -> None:
    """Print the paths that were not judged, the findings and the summary."""
    for left in report.unjudged:
        console.print(
            Text.assemble(f"{left.path}  ", ("not judged", STYLES["not judged"]), f"  {left.reason}"),
            soft_wrap=True,
            highlight=False,
        )
    for meaning, heading in HEADINGS.items():
        group = [each for each in report.found if each.meaning == meaning and not each.accepted]
        if not group:
            continue
        console.print(f"\n{heading}: {len(group)}", style="bold", highlight=False)
        for number, each in enumerate(group):
            if meaning == "harmless":
                console.print(_line(each), soft_wrap=True, highlight=False)
                continue
            if number:
                console.print()
            _print_found(each, report, console, corpora)
    console.print()
    for line in summary(report, fail_on):
        console.print(line, soft_wrap=True, highlight=False)


def _print_found(found: Found, report: Report, console: Console, corpora: pathlib.Path | None) -> None:
    command = check_command(report.name, found.finding.path)
    console.print(finding_block(found.finding, (command,)), soft_wrap=True, end="")
    if not found.deployed:
        console.print("only on paths that few people deploy", style="dim", highlight=False)
    for cause in found.causes:
        file = f"{corpora / 'open' / cause.entry}.py" if corpora and cause.entry else cause.name
        console.print(f"known bug of torch: {file}", style="dim", soft_wrap=True, highlight=False)
    if found.not_accepted_because:
        text = f"not accepted: {found.not_accepted_because}"
        console.print(text, style="yellow", soft_wrap=True, highlight=False)
    if found.remark:
        console.print(f"remark: {found.remark}", style="yellow", soft_wrap=True, highlight=False)


def _line(found: Found) -> str:
    names = ", ".join(cause.root for cause in found.causes)
    finding = found.finding
    return f"{finding.check} on {finding.path.without_device}: {finding.evidence.headline} ({names})"


def summary(report: Report, fail_on: FailOn) -> list[str]:
    """Return the last lines: how many paths agree, and what fails or why the model was not judged."""
    failing = report.failing(fail_on)
    outcomes = report.outcomes
    refused = outcomes.counts["refused"]
    lines = []
    if report.unconfirmed:
        lines.append(f"not counted, because a second process did not show them: {report.unconfirmed}")
    lines += report.outcomes.later_calls
    accepted = sum(each.accepted for each in report.found)
    if accepted:
        lines.append(f"findings that the baseline accepts: {accepted}")
    counts = report.agreement()
    if refused:
        counts += f", torch refuses {refused}"
    if failing:
        known = sum(each.known for each in failing)
        number = f"{counted(len(failing), 'finding')} ({counted(known, 'known bug')} of torch)"
        lines.append(f"{report.name}: {counts}; {number}")
    elif outcomes.judged:
        lines.append(f"{report.name}: {counts}; nothing fails")
    else:
        lines.append(f"{report.name} was not judged: {report.why_unjudged()}")
        lines += report.more_of_refusal()
    return lines

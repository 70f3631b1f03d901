"""The report on one model for a console: a row for each path when it is judged, then the findings."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from exportdiff.interfaces.checking.check_steps import Confirming, Explaining, PathDone
from exportdiff.interfaces.reports.check_summary import left_out, next_step, summary
from exportdiff.interfaces.reports.commands import check_command
from exportdiff.interfaces.reports.size_lines import size_lines
from exportdiff.interfaces.reports.text import (
    AS_WRITTEN,
    PLAIN_WIDTH,
    TEXT_WIDTH,
    finding_block,
    wrapped,
)

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterable, Sequence

    from rich.status import Status

    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.check_steps import CheckStep
    from exportdiff.interfaces.checking.found import FailOn, Found, Meaning
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.judging.results import Outcome, PathResult
    from exportdiff.known.attribution.explained import KnownCause

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
        """Print one row; a text that does not fit follows in the next lines."""
        row = Text.assemble(f"{path:<{self._width}}  ", (f"{outcome:<10}", STYLES[outcome]), "  ", text)
        row.rstrip()
        fits = len(row) <= TEXT_WIDTH
        if not fits:
            row.right_crop(len(text) + 2)
        self._console.print(row, soft_wrap=True, highlight=False)
        if not fits:
            print_lines(self._console, [f"    {text}"])

    def _say(self, text: str) -> None:
        if self._status is not None:
            self._status.update(text)


def note(result: PathResult) -> str:
    """Return the text next to the outcome of a path: the name of a refusal, or what was excused."""
    if result.outcome in ("refused", "not judged"):
        return result.reason  # what torch said follows once, after all rows
    notes = [f"{name} (documented)" for name in result.excused]
    if result.first_call_because:
        notes.append("first call only")
    return ", ".join(notes)


def print_report(
    report: Report,
    console: Console,
    fail_on: FailOn,
    corpora: pathlib.Path | None,
    printed: Collection[str] = (),
) -> None:
    """Print the paths that were not judged, the findings and the summary.

    ``printed``: the fingerprints of findings that need not be printed again.
    """
    print_lines(console, left_out(report.outcomes))
    for meaning, heading in HEADINGS.items():
        group = [
            each
            for each in report.found
            if each.meaning == meaning and not each.accepted and each.finding.fingerprint not in printed
        ]
        if not group:
            continue
        console.print(f"\n{heading}: {len(group)}", style="bold", highlight=False)
        for number, each in enumerate(group):
            if meaning == "harmless":
                console.print(_line(each), soft_wrap=True, highlight=False)
                continue
            if number:
                console.print()
            print_found(each, report.name, console)
            _print_explanation(each, console, corpora)
    for line in size_lines(report.sizes):
        console.print(line, soft_wrap=True, highlight=False)
    console.print()
    print_lines(console, summary(report, fail_on))
    text, command = next_step(report, fail_on, corpora)
    line = f"next: {text}: {command}" if command else f"next: {text}"
    if len(line) > TEXT_WIDTH and command:
        line = f"next: {text}:\n{command}"
    console.print(line, soft_wrap=True, highlight=False)


def report_text(report: Report, fail_on: FailOn, corpora: pathlib.Path | None) -> str:
    """Return what the command prints about a model."""
    text = io.StringIO()
    console = Console(file=text, width=PLAIN_WIDTH, **AS_WRITTEN)
    rows = PathRows(console, [each.path for each in report.paths])
    for result in report.paths:
        rows.row(str(result.path), result.outcome, note(result))
    print_report(report, console, fail_on, corpora)
    return text.getvalue()


def print_lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Print lines, broken at spaces."""
    width = console.width if console.is_terminal else TEXT_WIDTH
    for line in lines:
        console.print(wrapped(line, width), style=style, soft_wrap=True, highlight=False)


def print_found(found: Found, model: str, console: Console) -> None:
    """Print a finding without its explanation."""
    command = check_command(model, found.finding.path)
    console.print(finding_block(found.finding, (command,)), soft_wrap=True, end="")
    if not found.deployed:
        console.print("only on paths that few people deploy", style="dim", highlight=False)


def _print_explanation(found: Found, console: Console, corpora: pathlib.Path | None) -> None:
    for cause in found.causes:
        console.print(cause_line(cause, corpora), style="dim", soft_wrap=True, highlight=False)
    for text in found.workarounds:
        console.print(f"workaround: {text}", soft_wrap=True, highlight=False, markup=False)
    if found.not_accepted_because:
        text = f"not accepted: {found.not_accepted_because}"
        console.print(text, style="yellow", soft_wrap=True, highlight=False)
    if found.remark:
        name = "not explained" if found.explanation == "not explained" else "remark"
        console.print(f"{name}: {found.remark}", style="yellow", soft_wrap=True, highlight=False)


def cause_line(cause: KnownCause, corpora: pathlib.Path | None) -> str:
    """Return ``known bug of torch: corpora/open/NAME.py``."""
    file = f"{corpora / 'open' / cause.entry}.py" if corpora and cause.entry else cause.name
    return f"known bug of torch: {file}"


def _line(found: Found) -> str:
    names = ", ".join(cause.root for cause in found.causes)
    finding = found.finding
    return f"{finding.check} on {finding.path.without_device}: {finding.evidence.headline} ({names})"

"""The report on one model for a console: the paths, then the findings, then the summary."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from exportdiff.interfaces.reports.check_summary import left_out, next_step, summary
from exportdiff.interfaces.reports.commands import check_command
from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines
from exportdiff.interfaces.reports.path_rows import PathRows
from exportdiff.interfaces.reports.size_lines import size_lines
from exportdiff.interfaces.reports.text import (
    AS_WRITTEN,
    PLAIN_WIDTH,
    TEXT_WIDTH,
    finding_block,
    print_lines,
)
from exportdiff.judging.exemptions.limits.limit import INFERENCE
from exportdiff.runtime.paths.catalog import for_inference

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Sequence

    from exportdiff.interfaces.checking.found import FailOn, Found, Meaning
    from exportdiff.interfaces.checking.report import Report

HEADINGS: dict[Meaning, str] = {
    "wrong": "wrong, without an error",
    "breaks": "breaks",
    "inside": "results are right, but the exported program differs from eager",
    "harmless": "known, harmless here",
}
"""The groups of findings, in the order in which they are printed."""

_FOR_INFERENCE = (
    "Gradients differ after run_decompositions: PyTorch calls its result an inference IR, and the original "
    f"program a training IR ({INFERENCE})"
)


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
    bugs = KnownBugLines(corpora)
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
            print_found(each, report.name, console, report.given.options)
            _print_explanation(each, console, bugs)
    if any(each.finding.check == "gradients" and for_inference(each.finding.path) for each in report.found):
        console.print(f"\n{_FOR_INFERENCE}", soft_wrap=True, highlight=False)
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
        rows.add(result)
    rows.finish()
    print_report(report, console, fail_on, corpora)
    return text.getvalue()


def print_found(found: Found, model: str, console: Console, options: Sequence[str] = ()) -> None:
    """Print a finding without its explanation. ``options``: those of a command that shows it again."""
    command = check_command(model, found.finding.path, options)
    console.print(finding_block(found.finding, (command,)), soft_wrap=True, end="")
    if not found.deployed:
        console.print("only on paths that few people deploy", style="dim", highlight=False)


def _print_explanation(found: Found, console: Console, bugs: KnownBugLines) -> None:
    for line in bugs.of(found):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if found.not_accepted_because:
        text = f"not accepted: {found.not_accepted_because}"
        console.print(text, style="yellow", soft_wrap=True, highlight=False)
    if found.remark:
        name = "not explained" if found.explanation == "not explained" else "remark"
        console.print(f"{name}: {found.remark}", style="yellow", soft_wrap=True, highlight=False)


def _line(found: Found) -> str:
    names = ", ".join(cause.root for cause in found.named)
    finding = found.finding
    return f"{finding.check} on {finding.path.without_device}: {finding.evidence.headline} ({names})"

"""The report on one model: one HTML file that needs no network and no other file."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from exportdiff.core.first_difference import ordinal
from exportdiff.core.side_by_side import State
from exportdiff.interfaces.output_files import write_text
from exportdiff.interfaces.reports.check_summary import left_out, next_step
from exportdiff.interfaces.reports.commands import check_command
from exportdiff.interfaces.reports.model_report import HEADINGS
from exportdiff.interfaces.reports.page.environment import environment
from exportdiff.interfaces.wording import counted
from exportdiff.runtime.paths.backends import runner_of

if TYPE_CHECKING:
    import pathlib

    from exportdiff.core.finding import Finding
    from exportdiff.core.side_by_side import ModuleRow
    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.report import Report

OPEN_CARDS = 3
"""How many findings are unfolded when the page loads."""

SIGNS: dict[State, tuple[str, str]] = {
    "equal": ("✓", "equal: both give the same"),
    "first": ("➤", "first difference: look here"),
    "different": ("≠", "different, at or after the first difference"),
    "absent": ("-", "only in eager"),
    "added": ("+", "only on the path"),
    "not compared": ("·", "not compared: the path has other operators"),
}
"""The sign of each state, for readers who do not see its colour, and what it means."""


def write_model_page(
    file: pathlib.Path, report: Report, fail_on: FailOn, corpora: pathlib.Path | None
) -> None:
    """Write the page. Raises UsageError if the file cannot be written."""
    write_text(file, model_page(report, fail_on, corpora))


def model_page(report: Report, fail_on: FailOn, corpora: pathlib.Path | None) -> str:
    """Return the text of the file."""
    shown = [each for meaning in HEADINGS for each in report.found if each.meaning == meaning]
    cards = [each for each in shown if each.fails(fail_on)]
    return (
        environment()
        .get_template("check.html.jinja")
        .render(
            report=report,
            verdict=_verdict(report, fail_on),
            cards=cards,
            others=[each for each in shown if each not in cards],
            open_cards=OPEN_CARDS,
            headings=HEADINGS,
            signs=SIGNS,
            states=_states(cards),
            left_out=list(left_out(report.outcomes)),
            next=next_step(report, fail_on, corpora),
            calls=_calls,
            title=_title,
            command=lambda found: check_command(report.name, found.finding.path, report.given.options),
            machine_code=_is_machine_code,
        )
    )


def _verdict(report: Report, fail_on: FailOn) -> str:
    failing = report.failing(fail_on)
    if failing:
        return f"{counted(len(failing), 'finding')}: {report.agreement()}."
    if report.judged:
        return f"Nothing fails: {report.agreement()}."
    return f"Not judged: {report.why_unjudged()}"


def _states(cards: list[Found]) -> list[State]:
    """Return the states that the pictures have, for the legend."""
    seen = {
        operator.state
        for card in cards
        if (place := card.finding.first_difference) is not None and place.recorded is not None
        for row in place.recorded.rows
        for operator in row.operators
    }
    return [state for state in SIGNS if state in seen]


def _calls(rows: tuple[ModuleRow, ...]) -> list[tuple[int, list[ModuleRow]]]:
    """Return the rows of each call of the model."""
    return [(call, list(group)) for call, group in groupby(rows, key=lambda row: row.call)]


def _title(row: ModuleRow) -> str:
    """Return the name of a row."""
    if row.part == "results":
        return "results and state after the call"
    nth = f" ({ordinal(row.number)} call)" if row.number > 1 else ""
    backward = ", backward" if row.part == "backward" else ""
    return f"{row.name or 'the model itself'}{nth}{backward}"


def _is_machine_code(finding: Finding) -> bool:
    """Whether the path column shows graphs before they become machine code."""
    return runner_of(finding.path).interpreted is not None

"""Makes the rows of the table from the reports on the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.lab.zoo.notes import notes_on
from exportdiff.lab.zoo.row import Cell, ModelRow, ShownFinding

if TYPE_CHECKING:
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.judging.results import PathResult


def row_of(report: Report) -> ModelRow:
    """Return the row of one model."""
    if report.unjudged:
        return ModelRow(report.name, not_judged=report.unjudged[0].reason)
    return ModelRow(
        report.name, {result.path.without_device: _cell(result, report) for result in report.paths}
    )


def _cell(result: PathResult, report: Report) -> Cell:
    path = result.path.without_device
    on_it = (each for each in report.found if result.path in each.finding.shown_on)
    shown = tuple(_shown(report.name, path, each) for each in on_it)
    if shown:
        died = "" if result.outcome == "refused" else result.reason
        return Cell("finding", died, result.excused, shown)
    if result.status == "unsupported":
        return Cell("refused", result.reason, result.excused)
    return Cell("ok", "", result.excused)


def _shown(name: str, path: str, found: Found) -> ShownFinding:
    finding = found.finding
    causes = tuple(cause.name for cause in found.causes) or notes_on(name, path, finding.signature)
    entries = tuple(cause.entry for cause in found.causes if cause.entry)
    return ShownFinding(finding.check, finding.kind, finding.stage, finding.signature, causes, entries)

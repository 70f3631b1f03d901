"""Makes the rows of the table from verdicts and from what explains their findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.zoo.notes import notes_on
from harness.zoo.row import Cell, Row, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.judge.results import PathResult, Verdict
    from harness.known.explained import Explained


def row_of(name: str, verdict: Verdict, parts: Sequence[Explained]) -> Row:
    """Return the row of one model. ``parts``: the findings that were confirmed."""
    if not verdict.valid:
        return Row(name, not_judged=verdict.invalid_reason)
    return Row(name, {result.path.without_device: _cell(name, result, parts) for result in verdict.paths})


def _cell(name: str, result: PathResult, parts: Sequence[Explained]) -> Cell:
    shown = tuple(
        _shown(name, result.path.without_device, part)
        for part in parts
        if result.path in part.finding.shown_on
    )
    if shown:
        return Cell("finding", result.reason, result.excused, shown)
    if result.status == "unsupported":
        return Cell("refused", result.reason, result.excused)
    return Cell("ok", "", result.excused)


def _shown(name: str, path: str, part: Explained) -> Shown:
    finding = part.finding
    causes = tuple(cause.name for cause in part.causes) or notes_on(name, path, finding.signature)
    entries = tuple(cause.entry for cause in part.causes if cause.entry)
    return Shown(finding.check, finding.kind, finding.stage, finding.signature, causes, entries)

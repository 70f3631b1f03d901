"""Asks the corpus which findings of a model are known bugs of torch. Needs torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.report import Found
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.knowledge import knowledge

if TYPE_CHECKING:
    import pathlib

    from exportdiff.core.case import Case
    from exportdiff.interfaces.checking.report import Report


JUDGEMENTS = 60
"""For each finding, three times as many as in a campaign: a model of the user's own shows what takes four or
five fixes more often than a drawn program does, and there is one model to wait for, not thousands."""
SECONDS = 90.0
"""Of CPU, for the model."""


def explained(case: Case, report: Report, corpora: pathlib.Path) -> tuple[Found, ...]:
    """Return the findings of a report with the root causes that explain them; see ``attribution.explain``.

    A model of the user's has no tags, so no trigger of the corpus matches it.
    """
    findings = tuple(each.finding for each in report.found)
    verdict = Verdict(True, "", report.paths, findings, 0.0)
    known = knowledge(corpora.resolve())
    parts = explain(case, verdict, (), known, each=JUDGEMENTS, seconds=SECONDS)
    return tuple(Found(part.finding, part.causes, part.remark) for part in parts)

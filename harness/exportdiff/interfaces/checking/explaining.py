"""Finds out which findings of a model are known bugs of torch. Imports torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.found import Found
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.attribute import explain
from exportdiff.known.attribution.knowledge import knowledge

if TYPE_CHECKING:
    import pathlib

    from exportdiff.core.case import Case
    from exportdiff.interfaces.checking.report import Report


JUDGEMENTS = 60
"""How often a model is judged for each finding: three times as often as in a campaign. Findings of users'
models need four or five fixes more often than those of drawn programs, and there is only one model to wait
for."""
SECONDS = 90.0
"""The limit of CPU time for all findings of a model."""


def explained(case: Case, report: Report, corpora: pathlib.Path) -> tuple[Found, ...]:
    """Return the findings of a report with the root causes that explain them.

    A user's model has no tags, so no trigger of the corpus matches it.
    """
    findings = tuple(each.finding for each in report.found)
    verdict = Verdict(True, "", report.paths, findings, 0.0)
    known = knowledge(corpora.resolve())
    parts = explain(case, verdict, (), known, each=JUDGEMENTS, seconds=SECONDS)
    return tuple(Found(part.finding, part.causes, part.remark) for part in parts)

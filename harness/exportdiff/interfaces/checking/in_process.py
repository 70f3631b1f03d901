"""Judges a case in this process: for Python and pytest, where the model is an object that no child has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.explaining import explained
from exportdiff.interfaces.checking.report import assembled, confirmed
from exportdiff.judging.verdict import judge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.report import Report


def judge_in_process(case: Case, paths: Sequence[Path], corpora: pathlib.Path | None = None) -> Report:
    """Judge along all paths, then again along those that differ, then ask the corpus what is known.

    Changes nothing of the process but torch's caches: compiled functions are compiled again when they are
    next called. A path that ends the process ends this one.
    """
    if not paths:
        return assembled(case.name, ())
    verdict = judge(case, paths)
    report = assembled(
        case.name, paths, verdict.paths, verdict.findings, verdict.unjudged, invalid=verdict.invalid_reason
    )
    report = confirmed(report, lambda differing, findings: judge(case, differing).findings)
    if corpora is not None and report.found:
        report = report.with_found(explained(case, report, corpora))
    return report

"""Judges a case in this process. For Python and pytest, where the model is an object of this process."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.explaining import explained
from exportdiff.interfaces.checking.locating import Locator
from exportdiff.interfaces.checking.report import assembled, confirmed
from exportdiff.judging.verdict import judge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.report import Report


def judge_in_process(case: Case, paths: Sequence[Path], corpora: pathlib.Path | None = None) -> Report:
    """Judge all paths, judge the paths with findings again, then look for known bugs.

    Of this process, only torch's caches change: compiled functions are compiled again at their next call. A
    path that kills its process kills this process.
    """
    if not paths:
        return assembled(case.name, ())
    verdict = judge(case, paths)
    report = assembled(
        case.name, paths, verdict.paths, verdict.findings, verdict.unjudged, invalid=verdict.invalid_reason
    )
    report = confirmed(report, lambda differing, findings: _judged_and_located(case, differing))
    if corpora is not None and report.found:
        report = report.with_found(explained(case, report, corpora))
    return replace(report, model=case.identity)


def _judged_and_located(case: Case, paths: Sequence[Path]) -> Sequence[Finding]:
    """Judge again; each finding gets the place at which its path first differs from eager."""
    return Locator(case, math.inf).located(judge(case, paths).findings)

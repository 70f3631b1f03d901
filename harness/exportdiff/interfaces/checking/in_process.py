"""Judges a case in this process. For Python and pytest, where the model is an object of this process."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.torch_versions.running import nodes_without_stack_traces
from exportdiff.interfaces.checking.confirmation import SecondJudgement
from exportdiff.interfaces.checking.explaining import explained
from exportdiff.interfaces.checking.locating import Locator
from exportdiff.interfaces.checking.report import assembled
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.process_state import threads, use_threads

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.report import Report


def judge_in_process(case: Case, paths: Sequence[Path], corpora: pathlib.Path | None = None) -> Report:
    """Judge all paths, judge the paths with findings again, then look for known bugs.

    Of this process, only torch's caches change: compiled functions are compiled again at their next call. A
    path that kills its process kills this process.
    """
    if not paths:
        return assembled(case.name, ())
    # As in the child processes of the command. With more threads, small operators take twice the CPU time.
    case = replace(case, threads=case.threads or threads())
    with use_threads(1), nodes_without_stack_traces():
        return _judged(case, paths, corpora)


def _judged(case: Case, paths: Sequence[Path], corpora: pathlib.Path | None) -> Report:
    verdict = judge(case, paths)
    report = assembled(
        case.name, paths, verdict.paths, verdict.findings, verdict.unjudged, invalid=verdict.invalid_reason
    )
    confirmation = SecondJudgement(report)
    if confirmation.paths:
        findings = judge(case, confirmation.paths).findings
        for finding in Locator(case, math.inf).located(findings):
            confirmation.see(finding)
    report = replace(confirmation.finished(), model=case.identity)
    if corpora is None or not report.found:
        return report
    return report.with_found(tuple(part for parts in explained(case, report, corpora) for part in parts))

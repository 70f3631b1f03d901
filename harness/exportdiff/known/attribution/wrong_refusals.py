"""Finds the fixes that refuse what plain torch does right: such a refusal is a regression of its fix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.classification import Classification
from exportdiff.known.attribution.residual import ResidualFinding

if TYPE_CHECKING:
    from exportdiff.core.case import Case
    from exportdiff.judging.judge_case import Judge
    from exportdiff.judging.results import PathResult, Verdict
    from exportdiff.known.attribution.knowledge import Knowledge


def regressed(mended: Verdict, plain: Verdict, known: Knowledge) -> tuple[PathResult, ...]:
    """Return the paths of mended torch that a fix refuses, or that differ, and that agree on plain torch.

    Not among them: a path that differs only as another path of plain torch does. With a fix, unflatten checks
    the guards of the program, and refuses a size as ``ep.module()`` of plain torch does.
    """
    right = {result.path for result in plain.paths if result.status == "ok"}
    seen = {finding.signature for finding in plain.findings}
    new = [finding for finding in mended.findings if finding.signature not in seen]
    differ = {path for finding in new for path in finding.shown_on}
    return tuple(
        result
        for result in mended.paths
        if result.path in right
        and (result.path in differ or (result.status == "unsupported" and result.reason in known.usable))
    )


def find_wrong_refusals(
    case: Case, mended: Verdict, plain: Verdict, known: Knowledge, judge: Judge = judge_case
) -> tuple[Verdict, tuple[ResidualFinding, ...]]:
    """Return the verdict on mended torch with each wrong refusal as a finding, and these findings.

    A refusal is wrong if a fix declares it, and the path agrees with eager on plain torch. Such a path is
    judged on mended torch again, where the refusal counts as the error that it raises.
    """
    wrong = {
        result.path: result.reason
        for result in regressed(mended, plain, known)
        if result.status == "unsupported"
    }
    if not wrong:
        return mended, ()
    again = judge(case, tuple(wrong), ())
    found = tuple(
        ResidualFinding(finding, Classification("regression", (wrong[finding.path],)))
        for finding in again.findings
    )
    results = {result.path: result for result in again.paths if result.status == "finding"}
    return replace(mended, paths=tuple(results.get(each.path, each) for each in mended.paths)), found

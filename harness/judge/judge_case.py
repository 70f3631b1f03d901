"""Judging one case; along no path at all, only finding out whether its process survives eager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from harness.judge.results import Verdict
from harness.judge.verdict import judge
from harness.paths.run.eager import observe_eager
from harness.paths.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.case import Case
    from harness.judge.declared_refusals import DeclaredRefusal
    from harness.path import Path

Judge: TypeAlias = "Callable[[Case, Sequence[Path], Sequence[DeclaredRefusal]], Verdict]"
"""What judges a case; tests replace it."""


def judge_case(case: Case, paths: Sequence[Path], refusals: Sequence[DeclaredRefusal] = ()) -> Verdict:
    """Judge along paths; along none, run eager alone to see whether it survives.

    ``refusals``: what the fixes that are in place declare.
    """
    if paths:
        return judge(case, paths, refusals=refusals)
    observe_eager(case, "cpu", Stopwatch())
    return Verdict(True, "", (), (), 0.0)

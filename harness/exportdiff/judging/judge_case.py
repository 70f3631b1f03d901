"""Judging one case; along no path at all, only finding out whether its process survives eager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.judging.exemptions.refusal import FixRefusal

Judge: TypeAlias = "Callable[[Case, Sequence[Path], Sequence[FixRefusal]], Verdict]"
"""What judges a case; tests replace it."""


def judge_case(case: Case, paths: Sequence[Path], refusals: Sequence[FixRefusal] = ()) -> Verdict:
    """Judge along paths; along none, run eager alone to see whether it survives.

    ``refusals``: what the fixes that are in place declare.
    """
    if paths:
        return judge(case, paths, refusals=refusals)
    run_eager(case, "cpu")
    return Verdict(True, "", (), (), 0.0)


def run_eager(case: Case, device: str) -> None:
    """Make every call that eager makes before paths are judged: it may also die in a backward pass."""
    observe_eager(case, device, Stopwatch(), MODES)

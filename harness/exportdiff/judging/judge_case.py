"""Judges one case; without paths, only finds out whether its process survives eager."""

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
"""The type of ``judge_case``; tests pass other functions."""


def judge_case(
    case: Case, paths: Sequence[Path], refusals: Sequence[FixRefusal] = (), *, once: bool = False
) -> Verdict:
    """Judge a case along paths; without paths, run only eager.

    ``refusals``: what the installed fixes declare. ``once``: of the paths that share a refused export, judge
    only the first.
    """
    if paths:
        return judge(case, paths, refusals=refusals, once=once)
    run_eager(case, "cpu")
    return Verdict(True, "", (), (), 0.0)


def run_eager(case: Case, device: str) -> None:
    """Make all calls that eager makes before paths are judged: the backward pass may kill the process too."""
    observe_eager(case, device, Stopwatch(), MODES)

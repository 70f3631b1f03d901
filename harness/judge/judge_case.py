"""Judging one case; along no path at all, only finding out whether its process survives eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.judge.verdict import Verdict, judge
from harness.paths import Stopwatch, observe_eager

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.case import Case
    from harness.path import Path


def judge_case(case: Case, paths: Sequence[Path]) -> Verdict:
    """Judge along paths; along none, run eager alone to see whether it survives."""
    if paths:
        return judge(case, paths)
    observe_eager(case, "cpu", Stopwatch())
    return Verdict(True, "", (), (), 0.0)

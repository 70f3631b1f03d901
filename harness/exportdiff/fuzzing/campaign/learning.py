"""What the runs of exports cost and found, and how much more often each should run because of it.

An *arm* is a mode with its transforms, such as ``nonstrict+reload``: its paths share an export. What an arm
costs is what the catalog of paths says, not measured seconds, so that every machine learns the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.path import Path

CERTAINTY = 3.0
"""An arm is judged by its own findings as soon as it should have about this many. Until then it stays near
the rates of ``schedule.py``."""
LEAST, MOST = 0.25, 4.0
"""An arm runs at least a quarter as often as the schedule says, and at most four times as often."""
EARLIER = 0.5
"""What an earlier campaign has learned counts half: bugs become known, and torch changes."""


@dataclass(frozen=True)
class Yield:
    """What the runs of one arm cost and found."""

    cost: float = 0.0
    """Milliseconds, by the catalog of paths."""
    findings: float = 0.0
    """New and masked findings that no earlier program showed; those of earlier campaigns count less."""

    def __add__(self, other: Yield) -> Yield:
        """Add both."""
        return Yield(self.cost + other.cost, self.findings + other.findings)


def arm_of(path: Path) -> str:
    """Return the name of the arm of a path: its mode and transforms."""
    return "+".join((path.mode, *path.transforms))


def factors_of(yields: Mapping[str, Yield]) -> dict[str, float]:
    """Return how much more often than usual each arm should run; arms that are not named: as usual.

    An arm that finds as much for its cost as all arms together has the factor 1.
    """
    findings = sum(each.findings for each in yields.values())
    spent = sum(each.cost for each in yields.values())
    if not findings or not spent:
        return {}
    factors = {}
    for arm, each in sorted(yields.items()):
        expected = findings * each.cost / spent
        factor = (CERTAINTY + each.findings) / (CERTAINTY + expected)
        factors[arm] = round(min(max(factor, LEAST), MOST), 3)
    return factors


def earlier(yields: Mapping[str, Yield]) -> dict[str, Yield]:
    """Return what an earlier campaign has learned as the start of the next one."""
    return {arm: Yield(EARLIER * each.cost, EARLIER * each.findings) for arm, each in yields.items()}

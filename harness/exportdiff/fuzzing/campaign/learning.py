"""Learns while a campaign runs: exports that show more new findings are used more often afterwards.

An *arm* is a mode with its transforms, such as ``nonstrict+reload``: its paths share an export. What an arm
costs is what the catalog of paths says, not measured seconds. Programs are numbered in blocks, and the
results of some blocks before decide about a block. So the same seed gives the same paths on any machine, with
any number of workers.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.known.attribution.classification import NEW
from exportdiff.runtime.paths import cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.path import Path
    from exportdiff.fuzzing.campaign.worker import ExampleResult

BLOCK = 50
"""Programs of one campaign, or of one shard of it, that use the same factors."""
DELAY = 8
"""Block 20 uses the results up to block 12, so that many workers do not wait for one slow program."""
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


class Learner:
    """Learns from the results of a campaign, which come in the order of the programs."""

    def __init__(self, start: Mapping[str, Yield], shards: int = 1) -> None:
        """Begin with what earlier campaigns have learned. ``shards``: how many share the programs."""
        self._yields: defaultdict[str, Yield] = defaultdict(Yield, start)
        self._shards = shards
        self._seen: set[str] = set()
        self._factors = {-1: factors_of(self._yields)}
        """By block, what its results and those of all blocks before have taught."""
        self._newest = 0
        """The block of the last result."""

    def add(self, result: ExampleResult) -> None:
        """Learn from the next result."""
        block = self._block(result.index)
        for ended in range(self._newest, block):
            self._factors[ended] = factors_of(self._yields)
        self._newest = block
        if result.verdict is None:
            return
        for run in result.verdict.paths:
            self._yields[arm_of(run.path)] += Yield(cost=cost(run.path))
        known = {part.finding.fingerprint for part in result.known}
        for finding in result.verdict.findings:
            kind = result.classifications.get(finding.fingerprint, NEW).kind
            if kind != "regression" and finding.fingerprint not in known | self._seen:
                self._seen.add(finding.fingerprint)
                self._yields[arm_of(finding.path)] += Yield(findings=1)

    def may_start(self, index: int) -> bool:
        """Whether the results that decide about a program are all there."""
        return self._block(index) - DELAY < max(self._newest, 0)

    def factors(self, index: int) -> Mapping[str, float]:
        """Return the factors for a program that may start."""
        return self._factors[max(self._block(index) - DELAY, -1)]

    @property
    def yields(self) -> dict[str, Yield]:
        """What is known now, with what earlier campaigns have learned."""
        return dict(sorted(self._yields.items()))

    def _block(self, index: int) -> int:
        return index // (BLOCK * self._shards)

"""Learns while a campaign runs: exports that show more new findings are used more often afterwards.

Programs are numbered in blocks, and the results of some blocks before decide about a block. So the same seed
gives the same paths with any number of workers.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.learning import Yield, arm_of, factors_of
from exportdiff.known.attribution.classification import NEW
from exportdiff.runtime.paths import cost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.fuzzing.campaign.worker import ExampleResult

BLOCK = 50
"""Programs of one campaign, or of one shard of it, that use the same factors."""
DELAY = 8
"""Block 20 uses the results up to block 12, so that many workers do not wait for one slow program."""


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

"""fake: the fake tensors of a graph have the metadata that the real tensors have when the graph runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.metadata import unlike_recorded
from exportdiff.judging.checks.evidence import OfLeaf, WithoutCall
from exportdiff.runtime.observing.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.observation import Observation


@dataclass(frozen=True)
class WrongFake(OfLeaf, WithoutCall):
    """A tensor that the graph computes has other metadata than its fake tensor."""

    node: str
    operator: str
    leaf: LeafDifference
    """Expected is what the real tensor has, seen what the fake tensor has."""
    reloaded: bool
    """Whether the program was read from a file."""

    stage = "export"
    # If a value also differs, a reader wants to see that first.
    relation = Relation.POSSIBLE_CAUSE

    def words(self) -> tuple[str, ...]:
        # A tensor that is read from a file begins at 0, whatever computes it: one cause.
        by_reload = self.leaf.word == "offset" and self.reloaded
        return (self.leaf.word, "reload" if by_reload else self.operator)

    def lines(self) -> Iterator[str]:
        yield (
            f"node {self.node} ({self.operator}) has another {self.leaf.word} than its fake tensor predicted"
        )
        yield f"it is {self.leaf.expected}; predicted: {self.leaf.seen}"


def fake(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare dtype, shape, stride and offset of every node with the fake tensor's; report the first."""
    if not isinstance(candidate, ExportedObservation):
        return
    reloaded = "reload" in candidate.path.transforms
    for each in candidate.predictions:
        if (unlike := unlike_recorded(each.actual, each.predicted)) is not None:
            yield WrongFake(each.node, each.operator, unlike, reloaded)
            # What is computed from it is predicted wrongly too.
            return

"""gradients: the gradients of parameters and inputs are those of eager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.crash import crash_lines, crash_words
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.evidence import InCall, OfLeaf
from exportdiff.runtime.observing.aliasing import INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation


@dataclass(frozen=True)
class BackwardRaised(InCall):
    """The backward pass of the path raised, eager's did not."""

    failure: Failure

    kind = "crash"
    call = 0

    def words(self) -> tuple[str, ...]:
        return ("backward", *crash_words(self.failure))

    def lines(self) -> Iterator[str]:
        yield from crash_lines("the backward pass of call 0", self.failure, "eager's")


@dataclass(frozen=True)
class GradientFlow(InCall):
    """A gradient reaches a tensor on one side only."""

    name: str
    sort: str
    """``input`` or ``state``."""
    lost: bool
    """Whether it reaches the tensor in eager only; else on the path only."""

    call = 0

    def words(self) -> tuple[str, ...]:
        return ("none", self.sort, "lost" if self.lost else "new")

    def lines(self) -> Iterator[str]:
        flows = "nothing flows" if self.lost else "a gradient flows"
        yield f"call 0: {flows} back to {self.name} here, in eager it is the other way round"


@dataclass(frozen=True)
class GradientLeaf(OfLeaf, InCall):
    """The gradient of one tensor differs."""

    name: str
    sort: str
    """``input`` or ``state``."""
    leaf: LeafDifference

    call = 0

    def words(self) -> tuple[str, ...]:
        return (self.leaf.word, self.sort)

    def lines(self) -> Iterator[str]:
        yield f"call 0: the gradient of {self.name} differs in {self.leaf.aspect}"
        yield self.leaf.details()


def gradients(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare the gradients of the first call, by name."""
    ours, theirs = reference.gradients, candidate.gradients
    # Where eager itself has no backward pass, there is nothing to compare with.
    if ours is None or theirs is None or ours.failure is not None:
        return
    if theirs.failure is not None:
        yield BackwardRaised(theirs.failure)
        return
    for name, expected in ours.of.items():
        if name not in theirs.of:
            continue  # gone, or no longer requiring grad: the checks of state and inputs report it
        sort = "input" if name.startswith(INPUT) else "state"
        seen = theirs.of[name]
        if expected is None or seen is None:
            if expected is not seen:
                yield GradientFlow(name, sort, lost=seen is None)
        elif (found := compare_leaf(expected, seen)) is not None:
            yield GradientLeaf(name, sort, found)

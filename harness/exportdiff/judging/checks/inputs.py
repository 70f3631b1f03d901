"""inputs: after the call, the arguments are what eager made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.comparable_calls import comparable
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.evidence import InCall, OfLeaf
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.tensors import Tree


@dataclass(frozen=True)
class InputLeaf(OfLeaf, InCall):
    """One leaf of the arguments differs after a call."""

    call: int
    argument: str
    """As one would write it: ``args[0]``, ``kwargs['mask']``."""
    leaf: LeafDifference

    def words(self) -> tuple[str, ...]:
        return (self.leaf.word,)

    def lines(self) -> Iterator[str]:
        yield f"after call {self.call}: input {self.argument} differs in {self.leaf.aspect}"
        yield self.leaf.details()


@dataclass(frozen=True)
class InputStructure(InCall):
    """A list or dict of the arguments has more, fewer or other items after a call."""

    call: int
    expected: str
    seen: str

    def words(self) -> tuple[str, ...]:
        return ("structure",)

    def lines(self) -> Iterator[str]:
        yield f"after call {self.call}: the arguments have another structure than in eager"
        yield f"eager: {self.expected}"
        yield f"here: {self.seen}"


def inputs(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare values and metadata of every input after every call, and the items of lists and dicts."""
    for number, ours, theirs in comparable(reference, candidate):
        yield from _leaves(number, ours.inputs, theirs.inputs)
        if ours.refilled is not None or theirs.refilled is not None:
            yield from _containers(number, ours.refilled or ours.inputs, theirs.refilled or theirs.inputs)


def _containers(call: int, ours: Tree, theirs: Tree) -> Iterator[Evidence]:
    """Compare the items of lists and dicts among the arguments, if a call has replaced some."""
    if ours.structure != theirs.structure:
        yield InputStructure(call, ours.structure, theirs.structure)
    else:
        yield from _leaves(call, ours, theirs)


def _leaves(call: int, ours: Tree, theirs: Tree) -> Iterator[Evidence]:
    for expected, seen in zip(ours.leaves, theirs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value, metadata=True)) is not None:
            yield InputLeaf(call, argument(expected.where), found)

"""Finds what the ordinary calls of a path already show: other calls need not report it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.comparable_calls import comparable
from exportdiff.judging.checks.compare.leaves import LeafDifference, compare_leaf
from exportdiff.runtime.observing.aliasing import INPUT, OUTPUT
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.runtime.observing.observation import Call, Observation
    from exportdiff.runtime.observing.tensors import State, Tree

STRUCTURE = "structure of the output"
"""Used as the name of what differs if the containers of two outputs differ."""

Unlike = tuple[str, LeafDifference]
"""Where two calls differ (``output[0]``, ``input args[0]``, the name of a tensor of the state), and how."""


def unlike_calls(ours: Call, theirs: Call) -> Iterator[Unlike]:
    """Compare outputs, inputs and state of two calls."""
    if ours.outputs is not None and theirs.outputs is not None:
        if ours.outputs.structure != theirs.outputs.structure:
            yield STRUCTURE, LeafDifference("kind", ours.outputs.structure, theirs.outputs.structure)
        if len(ours.outputs.leaves) == len(theirs.outputs.leaves):
            yield from unlike_outputs(ours.outputs, theirs.outputs)
    for expected, seen in zip(ours.inputs.leaves, theirs.inputs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value)) is not None:
            yield f"{INPUT}{argument(expected.where)}", found
    yield from unlike_states(ours.state, theirs.state)


def unlike_outputs(ours: Tree, theirs: Tree) -> Iterator[Unlike]:
    """Compare the leaves of the outputs of two calls."""
    for expected, seen in zip(ours.leaves, theirs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value)) is not None:
            yield f"{OUTPUT}{expected.where}", found


def unlike_states(ours: State, theirs: State) -> Iterator[Unlike]:
    """Compare the tensors of the state that both have."""
    for name in sorted(ours.tensors.keys() & theirs.tensors.keys()):
        if (found := compare_leaf(ours.tensors[name], theirs.tensors[name])) is not None:
            yield name, found


def beyond_ordinary(unlike: Iterable[Unlike], reference: Observation, candidate: Observation) -> list[Unlike]:
    """Leave out the differences that an ordinary call shows in the same place and property."""
    found = list(unlike)
    if not found:
        return []
    shown = {
        _key(each)
        for _, ours, theirs in comparable(reference, candidate)
        for each in unlike_calls(ours, theirs)
    }
    return [each for each in found if _key(each) not in shown]


def _key(unlike: Unlike) -> tuple[str, ...]:
    where, difference = unlike
    # Structures always differ at the same key, so the structures themselves are part of the key.
    both = (difference.expected, difference.seen) if where == STRUCTURE else ()
    return where, difference.word, *both

"""inputs: after the call, the arguments are what eager made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare.calls import comparable
from harness.checks.compare.leaves import compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.observe.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Observation


def inputs(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare values and metadata of every input after every call."""
    for number, ours, theirs in comparable(reference, candidate):
        for expected, seen in zip(ours.inputs.leaves, theirs.inputs.leaves, strict=False):
            found = compare_leaf(expected.value, seen.value, metadata=True)
            if found is not None:
                yield mismatch(
                    (found.word,),
                    f"after call {number}: input {argument(expected.where)} differs "
                    f"in {found.word.replace('-', ' ')}",
                    found.details,
                    call=number,
                )

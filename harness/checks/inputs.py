"""inputs: after the call, the arguments are what eager made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare import compare_leaf
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Observation


def inputs(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare values and metadata of every input after every call."""
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None or theirs.failure is not None:
            return
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


def argument(where: str) -> str:
    """Write a place in ``(args, kwargs)`` as one would: ``args[0]``, ``kwargs['mask']``."""
    if where.startswith("[0]"):
        return f"args{where[3:]}"
    return f"kwargs{where[3:]}"

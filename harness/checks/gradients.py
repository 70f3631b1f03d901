"""gradients: what flows back to parameters and inputs is what flows back in eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare.crash import crash_signature, shortened
from harness.checks.compare.leaves import compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.observe.aliasing import INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Observation


def gradients(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare the gradients of the first call, by name."""
    ours, theirs = reference.gradients, candidate.gradients
    # Where eager itself has no backward pass, there is nothing that a path could keep.
    if ours is None or theirs is None or ours.failure is not None:
        return
    if theirs.failure is not None:
        yield Difference(
            "crash",
            "run",
            ("backward", *crash_signature(theirs.failure)),
            f"the backward pass of call 0 raised {theirs.failure.name}, eager's did not\n"
            f"{shortened(theirs.failure.message)}",
            0,
        )
        return
    for name, expected in ours.of.items():
        if name not in theirs.of:
            continue  # gone, or no longer requiring grad: the state and inputs checks say so
        sort = "input" if name.startswith(INPUT) else "state"
        seen = theirs.of[name]
        if expected is None or seen is None:
            if expected is not seen:
                flows, not_here = ("nothing flows", "here") if seen is None else ("a gradient flows", "here")
                yield mismatch(
                    ("none", sort, "lost" if seen is None else "new"),
                    f"call 0: {flows} back to {name} {not_here}, in eager it is the other way round",
                    call=0,
                )
        elif (found := compare_leaf(expected, seen)) is not None:
            yield mismatch(
                (found.word, sort),
                f"call 0: the gradient of {name} differs in {found.word.replace('-', ' ')}",
                found.details,
                call=0,
            )

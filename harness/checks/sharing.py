"""sharing: names that are one tensor, or live in one storage, in eager do so on the path as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.crash import shortened
from harness.checks.compare.groups import listed, not_together
from harness.checks.compare.leaves import compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of
from harness.inputs.edits import FACTOR, plan_edits
from harness.observe.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Observation
    from harness.observe.tensors import State


def sharing(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare who is the same object as whom, who shares memory with whom, and what an edit does."""
    for difference in _compare(reference, candidate):
        # Tensors that are merely in one memory have metadata of their own.
        yield replace(difference, spoils="values" if difference.what[0] in _OF_MEMORY else "calls")
    if isinstance(candidate, ExportedObservation) and (names := candidate.still_shared):
        yield mismatch(
            ("copy-shares",), f"{listed(names)} of a copy is in the memory of the original", stage="lower"
        )
    for difference in _edited(reference, candidate):
        yield replace(difference, follows=True)


_OF_MEMORY = {"memory-no-longer-shared", "memory-became-shared"}


def _compare(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    if reference.before is None or candidate.before is None:
        return
    ours, theirs = reference.before, candidate.before
    both = ours.names & theirs.names
    known = frozenset(name for name in both if _device(ours, name) == _device(theirs, name))
    split = list(not_together(ours.same, theirs.same, known))
    told = set().union(*split)
    for names in split:
        # Buffers and constants are one sort here: export keeps buffers that do not persist as constants.
        parameters = [
            name for name in names if name in ours.tensors and sort_of(ours.tensors[name]) == "parameter"
        ]
        sort = "parameter" if parameters else "buffer"
        yield mismatch(
            ("one-tensor-became-several", sort),
            f"in eager {listed(names)} are one tensor, here they are different tensors",
            stage="lower",
        )
    for names in not_together(ours.shared, theirs.shared, known):
        if not names <= told:
            yield mismatch(
                ("memory-no-longer-shared",),
                f"in eager {listed(names)} share memory, here they do not",
                stage="lower",
                about=names,
            )
    merged = list(not_together(theirs.same, ours.same, known))
    for names in merged:
        yield mismatch(
            ("several-tensors-became-one",),
            f"in eager {listed(names)} are different tensors, here they are one",
            stage="lower",
        )
    for names in not_together(theirs.shared, ours.shared, known):
        if names not in merged:
            yield mismatch(
                ("memory-became-shared",),
                f"in eager {listed(names)} do not share memory, here they do",
                stage="lower",
            )
    if theirs.torn:
        yield mismatch(
            ("call-variant-has-its-own",),
            f"{listed(theirs.torn)}: not the tensor of the first call",
            stage="lower",
        )


def _device(state: State, name: str) -> str:
    """What has moved to another device is a difference of its own, and cannot share memory as before."""
    return (state.tensors.get(name) or state.constants[name]).device


def _left_out(reference: Observation, candidate: Observation) -> bool:
    """Whether some tensor that eager's edit is about is here under no name at all."""
    if reference.before is None or candidate.before is None:
        return False
    present = candidate.before.tensors.keys()
    return any(not names & present for names in plan_edits(reference.before))


def _edited(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare the call that is made once the state was edited, through the last name of each tensor."""
    ours, theirs = reference.edited, candidate.edited
    if ours is None or theirs is None or ours.failure is not None:
        return
    if _left_out(reference, candidate):
        return  # what has no name cannot be edited: the state check tells of it
    number = len(reference.calls)
    if theirs.failure is not None:
        yield mismatch(
            ("edit", "raises"),
            f"call {number}, after the state was edited in place, raised {theirs.failure.name}, "
            f"eager did not\n{shortened(theirs.failure.message)}",
            call=number,
        )
        return
    if ours.outputs is None or theirs.outputs is None:
        return
    for expected, seen in zip(ours.outputs.leaves, theirs.outputs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value)) is not None:
            yield mismatch(
                ("edit", found.word),
                f"call {number}, after every parameter and buffer was multiplied by {FACTOR} in place: "
                f"output{expected.where} differs in {found.word.replace('-', ' ')}",
                found.details,
                call=number,
            )

"""state: parameters and buffers start where eager's start, and every call moves them alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.aftermath import attributes
from harness.checks.compare.calls import comparable
from harness.checks.compare.leaves import SEVERITY, compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.observe.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.findings import Stage
    from harness.observe.observation import Observation
    from harness.observe.tensors import State, TensorSnapshot


def state(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare names, values and metadata of the state, before the first call and after each."""
    if reference.before is None or candidate.before is None:
        return
    yield from _missing(reference.before, candidate)
    yield from _compare(reference.before, candidate.before, None)
    for number, ours, theirs in comparable(reference, candidate):
        yield from _compare(ours.state, theirs.state, number)
        yield from _forgotten(reference.before, ours.state, candidate, number)
    yield from attributes(reference, candidate)


def _missing(ours: State, candidate: Observation) -> Iterator[Difference]:
    """Look for names that are gone."""
    present = candidate.before.tensors if candidate.before is not None else {}
    for name, tensor in ours.tensors.items():
        if name not in present:
            gone = mismatch(
                ("missing", sort_of(tensor)),
                f"{sort_of(tensor)} {name} ({tensor}) of eager is missing",
                stage="lower",
                about=(name,),
            )
            yield replace(gone, alone=True)


def _forgotten(before: State, after: State, candidate: Observation, call: int) -> Iterator[Difference]:
    """Look for tensors that eager updates and that the path has under no name."""
    if not isinstance(candidate, ExportedObservation):
        return
    here = candidate.before
    present = here.tensors.keys() if here is not None else set()
    names = present | here.constants.keys() if here is not None else set()
    # What eager itself no longer has under that name is no update.
    for name in sorted((candidate.dropped - present) & after.tensors.keys()):
        aliases = set().union(*(group for group in before.shared if name in group))
        found = compare_leaf(before.tensors[name], after.tensors[name])
        if found is not None and not aliases & names:
            sort = sort_of(before.tensors[name])
            yield mismatch(
                (found.word, sort, "gone"),
                f"after call {call}: eager has updated {sort} {name}, which is not here at all",
                call=call,
            )


def _compare(ours: State, theirs: State, call: int | None) -> Iterator[Difference]:
    unlike = [
        (found, sort, name)
        for sort, name, expected, seen in _pairs(ours, theirs)
        if (found := compare_leaf(expected, seen, metadata=True)) is not None
    ]
    when = "before the first call" if call is None else f"after call {call}"
    stage: Stage = "lower" if call is None else "run"
    for found, sort, name in sorted(unlike, key=lambda each: SEVERITY.index(each[0].word)):
        yield mismatch(
            (found.word, sort, *(("at-start",) if call is None else ())),
            f"{when}: {sort} {name} differs in {found.word.replace('-', ' ')}",
            found.details,
            stage=stage,
            call=call,
            about=(name,),
        )


def _pairs(ours: State, theirs: State) -> Iterator[tuple[str, str, TensorSnapshot, TensorSnapshot]]:
    for name, expected in ours.tensors.items():
        if name in theirs.tensors:
            yield sort_of(expected), name, expected, theirs.tensors[name]
    for name, expected in ours.constants.items():
        # A path may keep a constant as a buffer, and under a name of its own: then nothing is seen.
        if (seen := theirs.constants.get(name) or theirs.tensors.get(name)) is not None:
            yield "constant", name, expected, seen


def sort_of(tensor: TensorSnapshot) -> str:
    """Tell a parameter from a buffer."""
    return "parameter" if tensor.type == "Parameter" else "buffer"

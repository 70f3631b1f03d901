"""What a call of the path leaves behind besides inputs and tensors: compared where both sides noted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare.calls import comparable
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.observe.observation import Call, Observation


def attributes(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare the plain attributes, training flags and hooks of the modules."""
    for number, ours, theirs in comparable(reference, candidate):
        if ours.aftermath is None or theirs.aftermath is None:
            return
        for name, one, other in unequal(ours.aftermath.attributes, theirs.aftermath.attributes):
            sort = name.rpartition(".")[2] if name.endswith(("training", "hooks")) else "attribute"
            yield mismatch(
                ("left", sort),
                f"after call {number}: {name} differs",
                f"eager: {one}; here: {other}",
                call=number,
            )


def ambient(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare what is switched for the whole process, after calls that raised as well."""
    made = {each.description: each.call for each in reference.deviations}
    usual = [(f"call {n}", "", n, ours, theirs) for n, ours, theirs in comparable(reference, candidate)]
    number = len(candidate.calls)
    deviations = [
        (f"a call in which {each.description}", each.deviation, number, made.get(each.description), each.call)
        for each in candidate.deviations
    ]
    for when, deviation, number, ours, theirs in (*usual, *deviations):
        left = _left(ours, theirs) if ours is not None else None
        if left is not None:
            name, details = left
            raised = ("raised",) if theirs.failure is not None else ()
            end = f", which raised {theirs.failure.name}" if theirs.failure is not None else ""
            yield mismatch(
                ("run", "global", *raised, name),
                f"after {when}{end}: the {name} differs",
                details,
                f"altered: {deviation}" if deviation else "",
                call=number,
            )
            return


# A call that raises while it is traced has done nothing; eager has come as far as the line that raises.
_ON_THE_WAY = ("global random number generator", "text on standard output", "text on standard error")


def _left(ours: Call, theirs: Call) -> tuple[str, str] | None:
    """Return the first thing that one call left otherwise than the other, and how."""
    if (ours.failure is None) != (theirs.failure is None) or not ours.aftermath or not theirs.aftermath:
        return None
    for name, one, other in unequal(ours.aftermath.process_state, theirs.aftermath.process_state):
        if ours.failure is not None and name in _ON_THE_WAY:
            continue
        return name, "" if isinstance(one, bytes) else f"eager: {one}; here: {other}"
    return None


def unequal(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Yield the names under which two mappings differ, and what each has there."""
    for name in {**ours, **theirs}:
        one, other = ours.get(name, "nothing"), theirs.get(name, "nothing")
        if one != other:
            yield name, one, other

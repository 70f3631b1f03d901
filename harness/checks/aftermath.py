"""What a call of the path leaves behind besides inputs and tensors: compared where both sides noted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.observation import Observation


def attributes(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare the plain attributes, training flags and hooks of the modules."""
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.aftermath is None or theirs.aftermath is None or theirs.failure is not None:
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
    """Compare what is switched for the whole process."""
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.aftermath is None or theirs.aftermath is None:
            return
        for name, one, other in unequal(ours.aftermath.ambient, theirs.aftermath.ambient):
            shown = "" if isinstance(one, bytes) else f"eager: {one}; here: {other}"
            yield mismatch(
                ("run", "global", name), f"after call {number}: the {name} differs", shown, call=number
            )
            return


def unequal(
    ours: Mapping[str, object], theirs: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the names under which two mappings differ, and what each has there."""
    for name in {**ours, **theirs}:
        one, other = ours.get(name, "nothing"), theirs.get(name, "nothing")
        if one != other:
            yield name, one, other

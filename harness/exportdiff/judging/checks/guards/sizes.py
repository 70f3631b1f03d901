"""Part of the guards check: the program accepts the sizes that the spec of dynamic shapes declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.finding import Relation
from exportdiff.judging.checks.compare.crash import crash_words, shortened
from exportdiff.judging.checks.compare.guard_failures import input_misfit, relates_sizes
from exportdiff.judging.checks.evidence import WithoutCall
from exportdiff.runtime.observing.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.sizes import DynamicDimension, Resized, TriedSize

Standing: TypeAlias = Literal["promised", "inferred", "small"]
"""What the spec says of a size. ``promised``: the program must accept it. ``inferred``: export may find out
that it does not. ``small``: a size of 0 or 1, for which export promises nothing."""


@dataclass(frozen=True)
class SizeRefused(WithoutCall):
    """The program refuses a size inside the declared range, and eager accepts it."""

    where: str
    """The dimension: ``args[0].shape[1]``."""
    size: int
    declared: str
    accepts: str
    """What the program accepts by its range constraints."""
    standing: Standing
    resized: tuple[Resized, ...]
    """All dimensions that have another size than in the example."""
    failure: Failure

    kind = "crash"
    stage = "run"
    relation = Relation.INDEPENDENT

    def words(self) -> tuple[str, ...]:
        misfit = input_misfit(self.failure, probe=True)
        return ("refused", *((misfit,) if misfit else crash_words(self.failure)), "declared-size")

    def lines(self) -> Iterator[str]:
        yield f"size {self.size} of {self.where} is refused, although {self.declared} declares it"
        yield f"the range constraints of the program say: {self.accepts}; eager accepts {self.size}"
        yield f"{self.failure.name}: {shortened(self.failure.message)}"


def refused_sizes(candidate: Observation) -> Iterator[Evidence]:
    """Look for sizes inside the declared ranges that eager accepts and the program refuses.

    If a probe has one of these sizes, the call with the probe shows the same. A program that raises an
    exception in its first call, with the sizes of the example, accepts no other sizes either.
    """
    if not isinstance(candidate, ExportedObservation) or (candidate.calls and candidate.calls[0].failure):
        return
    for dimension in candidate.sizes:
        refused = [
            one for one in dimension.tried if one.eager and not one.program and one.size in dimension.stated
        ]
        if any(one.probe for one in refused):
            continue
        for one in refused:
            assert one.failure is not None
            yield SizeRefused(
                dimension.where,
                one.size,
                dimension.declared,
                dimension.accepts,
                _standing(dimension, one),
                one.resized,
                one.failure,
            )


def _standing(dimension: DynamicDimension, one: TriedSize) -> Standing:
    """Return what the spec says of a size that the program refuses.

    A named Dim promises its whole range. With a hint, export infers the remaining constraints; only the sizes
    from the example to an end that the user states count as declared, unless the program records a smaller
    range, or the guard relates several dimensions (torch/export/dynamic_shapes.py, Dim).
    """
    recorded = not dimension.fixed and one.size in dimension.recorded
    if one.size < 2 and not (one.size == dimension.stated.lower == 1 and recorded):
        return "small"
    if not dimension.hint:
        return "promised"
    if dimension.fixed:  # "DYNAMIC means dynamic, will error out if specialized"
        return "promised" if dimension.hint == "DYNAMIC" and dimension.example > 1 else "inferred"
    stated = dimension.stated
    end = stated.lower if one.size < dimension.example else stated.upper
    if end is None or not recorded or (one.failure is not None and relates_sizes(one.failure)):
        return "inferred"
    return "promised"

"""What a check is, and the base classes of the evidence that it returns.

The evidence classes are dataclasses. They set ``kind``, ``stage`` and the others without an annotation: with
one, these would be fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation

if TYPE_CHECKING:
    from exportdiff.core.finding import Kind, Stage
    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.observation import EagerObservation, Observation

Check = Callable[["EagerObservation", "Observation"], Iterable[Evidence]]
"""Takes what eager did and what a path did; returns how they differ. Pure; runs no model."""


class InCall(Evidence):
    """A mismatch that a call shows; subclasses have a field ``call``."""

    kind: Kind = "mismatch"
    stage: Stage = "run"
    relation: Relation = Relation.IN_CALL


class WithoutCall(Evidence):
    """A mismatch that shows without a call; subclasses set ``stage``, or have it as a field."""

    kind: Kind = "mismatch"
    call: int | None = None
    relation: Relation = Relation.INDEPENDENT


class OfLeaf(Evidence):
    """A mismatch of one tensor or Python value."""

    leaf: LeafDifference

    @property
    def aspect(self) -> str:
        """The property that differs."""
        return self.leaf.word

"""What was declared for a dynamic dimension, and which sizes the program and eager accept. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exportdiff.runtime.observing.failure import Failure


@dataclass(frozen=True)
class Resized:
    """One dimension of one input that gets another size."""

    place: str
    """Where the input is in ``(args, kwargs)``, as ``pytree.keystr`` writes it."""
    dim: int
    size: int


@dataclass(frozen=True)
class TriedSize:
    """One call in which a dimension had another size, together with all that have the same symbol."""

    size: int
    eager: bool
    """Whether eager accepts it."""
    failure: Failure | None = None
    """Why the program refuses it; None: it accepts it."""
    resized: tuple[Resized, ...] = ()
    """All dimensions that got another size than in the example."""
    probe: bool = False
    """Whether a probe has this size."""

    @property
    def program(self) -> bool:
        """Whether the program accepts it."""
        return self.failure is None


@dataclass(frozen=True)
class SizeRange:
    """The sizes between two ends. None: no number is given for that end."""

    lower: int | None = None
    upper: int | None = None

    def __contains__(self, size: object) -> bool:
        """Whether a size is not beyond one of the ends."""
        if not isinstance(size, int):
            return False
        return (self.lower is None or self.lower <= size) and (self.upper is None or size <= self.upper)


ANY_SIZE = SizeRange()


@dataclass(frozen=True)
class DynamicDimension:
    """One dimension of an example input that the spec of dynamic shapes declares as dynamic."""

    where: str
    """As one would write it: ``args[0].shape[1]``."""
    declared: str
    """``Dim.DYNAMIC``, ``Dim('batch', min=2, max=9)``."""
    accepts: str
    """What the program accepts by its range constraints: ``2 to 9``, ``2 and more``, ``only 4``, ``2*s0``."""
    tried: tuple[TriedSize, ...] = ()
    """The ends of the range, the example, the probes."""
    hint: str = ""
    """``AUTO`` or ``DYNAMIC``; empty: it has a named Dim."""
    stated: SizeRange = ANY_SIZE
    """The ends that the spec states."""
    example: int = 0
    """The size in the example."""
    fixed: bool = False
    """Whether the program has one size there."""
    recorded: SizeRange = ANY_SIZE
    """The range constraint of the program, if it is not fixed."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "where": self.where,
            "declared": self.declared,
            "program": self.accepts,
            "tried": [
                {"size": each.size, "eager": each.eager, "program": each.program} for each in self.tried
            ],
        }

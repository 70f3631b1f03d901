"""What was declared for a dynamic dimension, and which sizes the program and eager accept. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TriedSize:
    """One call in which a dimension had another size, together with all that have the same symbol."""

    size: int
    eager: bool
    """Whether eager accepts it."""
    program: bool
    """Whether the program accepts it."""


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

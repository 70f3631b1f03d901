"""How a deviating call differs from the example, as a part of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.runtime.observing.observation import DeviatingCall


@dataclass(frozen=True)
class Altered:
    """One respect in which a deviating call differs from the example."""

    deviation: str
    """The kind: a name of runtime/inputs/deviations.py."""
    description: str
    """For people: ``args[1] is False, not True``."""
    where: str
    """As one would write it: ``args[1]``, ``model.scale``; empty for what is in force around the call."""
    value: str
    """Of an attribute: what it is instead, as Python text."""

    @classmethod
    def of(cls, made: DeviatingCall) -> Altered:
        """Describe a call that was made."""
        return cls(made.deviation, made.description, made.where, made.value)

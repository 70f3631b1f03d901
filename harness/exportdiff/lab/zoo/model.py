"""A model of the zoo: a name, and how to build it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class ZooModel:
    """One real model, small and with random weights."""

    name: str
    """``SOURCE/MODEL``, as the table shows it."""
    source: str
    """One line for people: what is built."""
    make: Callable[[], object]
    """Returns ``(model, args)`` or ``(model, args, kwargs)``, with a fresh model."""
    dynamic_shapes: Callable[[], object] | None = None
    """As in Case."""
    probes: Callable[[], object] | None = None
    """As in Case."""

    def case(self) -> Case:
        """Return what the harness judges."""
        return Case(self.name, self.source, self.make, self.dynamic_shapes, self.probes, may_ask=True)

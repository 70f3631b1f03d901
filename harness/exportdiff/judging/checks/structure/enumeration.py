"""The order of modules, parameters and buffers: the state of an optimizer, for example, depends on it.

For a flat graph, whose modules only hold its state, the parameters alone are compared. The keys of a state
dict are read by name, so that their order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from exportdiff.core.finding import Relation
from exportdiff.judging.checks.structure.common import OfStructure, two_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.graphs import Hierarchy, Rebuilt
    from exportdiff.runtime.observing.tensors import State

What = Literal["modules", "parameters", "buffers"]


@dataclass(frozen=True)
class OrderDiffers(OfStructure):
    """What can be enumerated comes in another order."""

    what: What
    expected: tuple[str, ...]
    seen: tuple[str, ...]

    stage = "lower"
    relation = Relation.INDEPENDENT

    def words(self) -> tuple[str, ...]:
        """Return what comes in another order."""
        return ("order", self.what)

    def lines(self) -> Iterator[str]:
        """Show both orders."""
        yield f"{self.what} come in another order than in eager"
        yield from two_lists(self.expected, self.seen)


def modules_in_order(hierarchy: Hierarchy, rebuilt: Rebuilt) -> Iterator[Evidence]:
    """Compare the order of modules, by the names that both sides have."""
    yield from _differing("modules", hierarchy.first, rebuilt.order)


def parameters_in_order(ours: State, theirs: State) -> Iterator[Evidence]:
    """Compare the order of parameters, by the names that both sides have."""
    yield from _differing("parameters", _names(ours, parameters=True), _names(theirs, parameters=True))


def buffers_in_order(ours: State, theirs: State) -> Iterator[Evidence]:
    """Compare the order of buffers, by the names that both sides have."""
    yield from _differing("buffers", _names(ours, parameters=False), _names(theirs, parameters=False))


def _names(state: State, *, parameters: bool) -> list[str]:
    return [name for name, tensor in state.tensors.items() if (tensor.type == "Parameter") is parameters]


def _differing(what: What, ours: Iterable[str], theirs: Iterable[str]) -> Iterator[Evidence]:
    expected, seen = list(ours), list(theirs)
    both = set(expected) & set(seen)
    expected, seen = ([name for name in names if name in both] for names in (expected, seen))
    if expected != seen:
        yield OrderDiffers(what, tuple(expected), tuple(seen))

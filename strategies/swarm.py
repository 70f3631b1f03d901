"""Swarm testing: each example may use only a random subset of the features (Groce et al., ISSTA 2012).

A feature that is allowed everywhere drowns the others; a random subset lets rare features meet in depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    """Hypothesis's ``draw``."""

    def __call__(self, strategy: st.SearchStrategy[T]) -> T:
        """Draw from a strategy."""
        ...


WEIGHTS: dict[str, int] = {
    # hierarchy
    "hierarchy.layer": 30,
    "hierarchy.container": 40,
    "hierarchy.shared": 60,
    "hierarchy.alias": 50,
    "hierarchy.attach": 40,
    "hierarchy.more_children": 80,
    # state
    "state.parameter": 40,
    "state.buffer": 60,
    "state.scratch": 30,
    "state.constant": 30,
    "state.scaled": 70,
    "state.tied": 40,
    "state.read_child": 30,
    # calls
    "calls.bool": 60,
    "calls.int": 30,
    "calls.str": 25,
    "calls.optional": 30,
    "calls.second_tensor": 30,
    "calls.again": 80,
    "calls.keyword": 40,
    "calls.pass_down": 90,
    "calls.dropped": 25,
    "calls.deep": 55,
    # control flow
    "control.if": 70,
    "control.early_return": 30,
    "control.training": 20,
    "control.shape": 25,
    "control.loop": 70,
    # in-place
    "inplace.on_argument": 50,
    "inplace.on_state": 75,
    "inplace.on_local": 50,
    "inplace.on_view": 55,
    # op groups
    "op.map": 80,
    "op.zip": 70,
    "op.int": 90,
    "op.activation": 40,
    "op.reduce": 20,
    "op.shape": 25,
    "op.matmul": 50,
    "op.view": 45,
    "op.inplace.value": 60,
    "op.inplace.item": 45,
    "op.inplace.metadata": 55,
    # inputs and outputs
    "input.transposed": 30,
    "output.tuple": 40,
    "output.dict": 25,
    "output.argument": 30,
    "output.state": 45,
    "model.training": 30,
    "model.debris": 12,
}
"""Percent of the examples that may use a feature at all."""

_PERCENT = st.integers(0, 99)
_INDEX = [st.integers(0, n) for n in range(64)]


class Chooser:
    """Draws for one example: indices with the simplest choice first, and the example's feature subset."""

    def __init__(self, draw: Draw, weights: Mapping[str, int] = WEIGHTS) -> None:
        """Draw with Hypothesis's ``draw``; ``weights`` maps features to percents."""
        self._draw = draw
        self._groups: dict[str, list[str]] = {}
        for feature in weights:
            self._groups.setdefault(feature.split(".")[0], []).append(feature)
        self._weights = weights
        self._subset: dict[str, bool] = {}

    def on(self, feature: str) -> bool:
        """Whether this example may use a feature.

        Decided for its whole group (the part before the first dot) when first asked, by one draw: a draw
        a feature would take half of the time that drawing a Program takes. Shrinks to no feature at all.
        """
        if feature not in self._subset:
            group = self._groups[feature.split(".")[0]]
            # Bytes and not one wide integer: Hypothesis prefers small integers, and shrinks bytes one by one.
            shares = self._draw(st.binary(min_size=len(group), max_size=len(group)))
            for member, share in zip(group, shares, strict=True):
                self._subset[member] = share >= 256 * (1 - self._weights[member] / 100)
        return self._subset[feature]

    def chance(self, percent: int) -> bool:
        """True in that many percent of the draws; shrinks to False."""
        return self._draw(_PERCENT) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; shrinks to the first."""
        if len(options) == 1:
            return options[0]
        return options[self.upto(len(options) - 1)]

    def upto(self, most: int) -> int:
        """An int from 0 to ``most``; shrinks to 0."""
        return self._draw(_INDEX[min(most, len(_INDEX) - 1)])

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


_PERCENT = st.integers(0, 99)
_INDEX = [st.integers(0, n) for n in range(64)]


class Chooser:
    """Draws for one example: indices with the simplest choice first, and the example's feature subset."""

    def __init__(self, draw: Draw, weights: Mapping[str, int]) -> None:
        """Draw with Hypothesis's ``draw``; ``weights`` maps features to percents."""
        self.draw = draw
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
            shares = self.draw(st.binary(min_size=len(group), max_size=len(group)))
            for member, share in zip(group, shares, strict=True):
                self._subset[member] = share >= 256 * (1 - self._weights[member] / 100)
        return self._subset[feature]

    def maybe(self, feature: str, percent: int) -> bool:
        """True in that many percent of the draws, in examples that may use the feature."""
        return self.on(feature) and self.chance(percent)

    def chance(self, percent: int) -> bool:
        """True in that many percent of the draws; shrinks to False."""
        return self.draw(_PERCENT) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; shrinks to the first."""
        if len(options) == 1:
            return options[0]
        return options[self.upto(len(options) - 1)]

    def percent(self) -> int:
        """From 0 to 99; shrinks to 0. For a decision with several outcomes: every draw costs time."""
        return self.draw(_PERCENT)

    def mostly_first(self, options: Sequence[T]) -> T:
        """One of the options, in seven of ten draws the first."""
        if len(options) == 1:
            return options[0]
        share = self.draw(_PERCENT) - 70
        return options[0] if share < 0 else options[share * len(options) // 30]

    def upto(self, most: int) -> int:
        """An int from 0 to ``most``; shrinks to 0."""
        return self.draw(_INDEX[min(most, len(_INDEX) - 1)])

"""Swarm testing: each example may use only a random subset of the features (Groce et al., ISSTA 2012).

A feature that is allowed everywhere drowns the others; a random subset lets rare features meet in depth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    """Hypothesis's ``draw``."""

    def __call__(self, strategy: st.SearchStrategy[T]) -> T:
        """Draw from a strategy."""
        ...


_PERCENT = st.integers(0, 99)
_SHARE = 420
"""How finely a group is divided: every size up to 7, and closely enough any other."""


@lru_cache(maxsize=1024)
def _below(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit - 1)


_waiting: list[Callable[[], Any]] = []
_UNIT: st.SearchStrategy[Any] = st.builds(lambda: _waiting.pop()())
"""Whatever waits: one strategy for all, as to make one costs more than most draws."""


@lru_cache(maxsize=64)
def _subset(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


class Chooser:
    """Draws for one example: indices with the simplest choice first, and the example's feature subset."""

    def __init__(self, draw: Draw, weights: Mapping[str, int]) -> None:
        """Draw with Hypothesis's ``draw``; ``weights`` maps features to percents."""
        self.draw = draw
        # One draw for all: one for each feature would take half of the time that drawing a Program takes.
        # Bytes and not one wide integer: Hypothesis prefers small integers, and shrinks bytes one by one.
        shares = draw(_subset(len(weights)))
        # The smallest share is always off: whatever the weights, it shrinks away.
        self._subset = {
            feature: share > 0 and share >= 256 - 2.56 * weight
            for (feature, weight), share in zip(weights.items(), shares, strict=True)
        }
        self.used: set[str] = set()
        """The features that were asked for and are on."""

    def on(self, feature: str) -> bool:
        """Whether this example may use a feature; shrinks to no feature at all."""
        if not self._subset[feature]:
            return False
        self.used.add(feature)
        return True

    def apart(self, work: Callable[[], T]) -> T:
        """Do what draws, as a unit that Hypothesis tries to simplify or to leave out as a whole."""
        _waiting.append(work)
        result: T = self.draw(_UNIT)
        return result

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

    def member(self, groups: Sequence[Sequence[T]]) -> T:
        """A member of one of the groups, which are equally likely; shrinks to the first of the first."""
        number = self.draw(_below(len(groups) * _SHARE))
        group = groups[number // _SHARE]
        return group[number % _SHARE * len(group) // _SHARE]

    def upto(self, most: int) -> int:
        """An int from 0 to ``most``; shrinks to 0."""
        return self.draw(_below(most + 1))

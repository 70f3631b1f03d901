"""Swarm testing: each Program may use only a random subset of what drawing can do (Groce et al., ISSTA 2012).

A switch, such as ``state.buffer``, turns one thing that drawing can do on or off for a Program. If
everything were always on, common things would crowd out rare ones; with random subsets, rare things meet each
other often. All choices of a Program go through a Chooser, which knows the switches.
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
"""The number of equal parts of a group in ``Chooser.member``: divisible by every size up to 7."""


@lru_cache(maxsize=1024)
def _below(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit - 1)


_waiting: list[Callable[[], Any]] = []
"""The work that ``_UNIT`` does next, last one first."""
_UNIT: st.SearchStrategy[Any] = st.builds(lambda: _waiting.pop()())
"""One strategy for all units of work, because making a strategy costs more than most draws."""


@lru_cache(maxsize=64)
def _subset(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


class Chooser:
    """Draws for one Program: the switches that are on, and choices, of which the first is the simplest."""

    def __init__(self, draw: Draw, weights: Mapping[str, int]) -> None:
        """Draw with Hypothesis's ``draw``; ``weights`` maps switches to percents."""
        self.draw = draw
        # One draw for all switches: one draw each would take half of the time of drawing a Program.
        # Bytes instead of one wide integer: Hypothesis prefers small integers, but shrinks bytes one by one.
        shares = draw(_subset(len(weights)))
        # The smallest byte always means off, even with a weight of 100: so every switch shrinks to off.
        self._subset = {
            switch: share > 0 and share >= 256 - 2.56 * weight
            for (switch, weight), share in zip(weights.items(), shares, strict=True)
        }

    def on(self, switch: str) -> bool:
        """Whether a switch is on for this Program. Shrinks to all switches off."""
        return self._subset[switch]

    def as_unit(self, work: Callable[[], T]) -> T:
        """Run ``work``, which draws, as a unit: Hypothesis tries to simplify or omit it as a whole."""
        _waiting.append(work)
        result: T = self.draw(_UNIT)
        return result

    def maybe(self, switch: str, percent: int) -> bool:
        """True in ``percent`` percent of the draws if the switch is on, else always False."""
        return self.on(switch) and self.chance(percent)

    def chance(self, percent: int) -> bool:
        """True in ``percent`` percent of the draws. Shrinks to False."""
        return self.draw(_PERCENT) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options. Shrinks to the first."""
        if len(options) == 1:
            return options[0]
        return options[self.upto(len(options) - 1)]

    def percent(self) -> int:
        """A number from 0 to 99, for a decision with several outcomes in one draw: every draw costs time.

        Shrinks to 0.
        """
        return self.draw(_PERCENT)

    def mostly_first(self, options: Sequence[T]) -> T:
        """One of the options; in seven of ten draws the first."""
        if len(options) == 1:
            return options[0]
        share = self.draw(_PERCENT) - 70
        return options[0] if share < 0 else options[share * len(options) // 30]

    def member(self, groups: Sequence[Sequence[T]]) -> T:
        """A member of one of the groups, all groups being equally likely.

        Shrinks to the first member of the first group.
        """
        number = self.draw(_below(len(groups) * _SHARE))
        group = groups[number // _SHARE]
        return group[number % _SHARE * len(group) // _SHARE]

    def upto(self, most: int) -> int:
        """An int from 0 to ``most``. Shrinks to 0."""
        return self.draw(_below(most + 1))

"""Finds a minimal sufficient set of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LADDER = (1, 4, 16, 64)
"""How many of the likeliest names to try together before all: usually one of the first few is sufficient."""


class Smallest:
    """Reduces a sufficient set of names to one in which every name is necessary.

    ``sufficient`` may raise an exception to end the search early; ``verified`` is then the smallest set so
    far.
    """

    def __init__(self, names: Sequence[str], sufficient: Callable[[frozenset[str]], bool]) -> None:
        """``names``: sufficient together, the likeliest first."""
        self.verified: tuple[str, ...] = tuple(names)
        """The smallest sufficient set so far."""
        self._sufficient = sufficient

    def run(self) -> None:
        """Reduce ``verified``. Raises what ``sufficient`` raises."""
        needed: tuple[str, ...] = ()
        while not self._sufficient(frozenset(needed)):
            rest = self.verified[: len(self.verified) - len(needed)]
            high = self._shortest(rest, needed)
            if high == 0:
                return
            needed = (rest[high - 1], *needed)
            self.verified = (*rest[: high - 1], *needed)
        self.verified = needed

    def _shortest(self, names: tuple[str, ...], needed: tuple[str, ...]) -> int:
        """Return how many of the names, in their order, are sufficient with the needed ones."""
        low, high = 0, len(names)
        for size in LADDER:
            if size >= high:
                break
            if self._sufficient(frozenset((*names[:size], *needed))):
                high = size
                self.verified = (*names[:high], *needed)
                break
            low = size
        while high - low > 1:
            middle = (low + high) // 2
            if self._sufficient(frozenset((*names[:middle], *needed))):
                high = middle
                self.verified = (*names[:high], *needed)
            else:
                low = middle
        return high

"""Finds the few among many names that suffice for something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LADDER = (1, 4, 16, 64)
"""How many of the likeliest names to try together first, before all: mostly one of the first few suffices."""


class Smallest:
    """Reduces names that suffice together to those of which none can be left out.

    ``sufficient`` may raise an exception to end the search early; ``verified`` then holds what is known.
    """

    def __init__(self, names: Sequence[str], sufficient: Callable[[frozenset[str]], bool]) -> None:
        """``names``: the likeliest first; all of them together are sufficient."""
        self.verified: tuple[str, ...] = tuple(names)
        """The fewest names so far that were seen to suffice."""
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
        """Return how many of the names, in their order, suffice with the needed ones: the last is needed."""
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

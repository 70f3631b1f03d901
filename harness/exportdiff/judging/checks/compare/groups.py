"""Groups of names: who is the same as whom, or lives with whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Groups = tuple[frozenset[str], ...]
"""Disjoint; a name that is alone is in none."""


def not_together(wanted: Groups, present: Groups, known: frozenset[str]) -> Iterator[frozenset[str]]:
    """Return the groups, cut to the known names, that are not within one of those present."""
    for group in wanted:
        names = group & known
        if len(names) > 1 and not any(names <= other for other in present):
            yield names


def listed(names: Iterable[str], most: int = 6) -> str:
    """Write names down, at most so many of them."""
    ordered = sorted(names)
    return ", ".join(ordered[:most]) + (f" and {len(ordered) - most} more" if len(ordered) > most else "")

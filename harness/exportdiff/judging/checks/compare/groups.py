"""Groups of names that are one object, or that share memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Groups = tuple[frozenset[str], ...]
"""Disjoint. A name that shares nothing is in no group."""


def not_together(wanted: Groups, present: Groups, known: frozenset[str]) -> Iterator[frozenset[str]]:
    """Return the known names of each wanted group that is not inside of one of the present groups."""
    for group in wanted:
        names = group & known
        if len(names) > 1 and not any(names <= other for other in present):
            yield names


def listed(names: Iterable[str], most: int = 6) -> str:
    """Return the names as text, ``most`` of them at most."""
    ordered = sorted(names)
    return ", ".join(ordered[:most]) + (f" and {len(ordered) - most} more" if len(ordered) > most else "")

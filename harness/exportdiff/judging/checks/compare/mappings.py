"""Compare two mappings, name by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def unequal(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Yield the names under which two mappings differ, and both values; a missing value is ``nothing``."""
    for name in {**ours, **theirs}:
        one, other = ours.get(name, "nothing"), theirs.get(name, "nothing")
        if one != other:
            yield name, one, other

"""Comparing which names are one object, or share memory, in eager and elsewhere."""

from __future__ import annotations

import itertools
import sys
from typing import Any


def all_pairs(expected: dict[str, Any], seen: dict[str, Any]) -> Any:
    """Pair the names that both have."""
    ours, theirs = expected, seen
    pairs = itertools.combinations(sorted(ours.keys() & theirs.keys()), 2)
    return ours, theirs, pairs


def pairs_with_output(expected: dict[str, Any], seen: dict[str, Any]) -> Any:
    """Pair each output with the other names. What the state shares with itself is another finding."""
    ours, theirs = expected, seen
    both = itertools.combinations(sorted(ours.keys() & theirs.keys()), 2)
    pairs = [pair for pair in both if "output" in str(pair)]
    return ours, theirs, pairs


def object_split(ours: Any, theirs: Any, pairs: Any) -> list[Any]:
    """Find one object of eager that became two."""
    wrong = [(a, b) for a, b in pairs if ours[a] is ours[b] and theirs[a] is not theirs[b]]
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} are one object in eager, two in the RUNNER")
    return wrong


def objects_merged(ours: Any, theirs: Any, pairs: Any) -> list[Any]:
    """Find two objects of eager that became one."""
    wrong = [(a, b) for a, b in pairs if theirs[a] is theirs[b] and ours[a] is not ours[b]]
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} are two objects in eager, one in the RUNNER")
    return wrong


def memory_split(ours: Any, theirs: Any, pairs: Any) -> list[Any]:
    """Find memory that is shared in eager only."""
    wrong = [(a, b) for a, b in pairs if ours[a] == ours[b] and theirs[a] != theirs[b]]
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} share memory in eager, not in the RUNNER")
    return wrong


def memory_merged(ours: Any, theirs: Any, pairs: Any) -> list[Any]:
    """Find memory that is not shared in eager."""
    wrong = [(a, b) for a, b in pairs if theirs[a] == theirs[b] and ours[a] != ours[b]]
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} share memory in the RUNNER, not in eager")
    return wrong


def verdict(wrong: list[Any]) -> None:
    """Exit with what was found."""
    if not wrong:
        print("ok: RUNNER shares what eager shares")
    sys.exit(bool(wrong))

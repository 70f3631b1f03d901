"""Which tags exclude each other."""

from __future__ import annotations

from collections.abc import Iterable

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.table import TAGS


def _at_most_one(*names: str) -> tuple[frozenset[str], frozenset[str]]:
    """Tags of which a Program has at most one."""
    return frozenset(names), frozenset(names)


def _with_prefix(*starts: str) -> frozenset[str]:
    return frozenset(name for name in TAGS if name.startswith(starts))


_CHILD_ARGUMENTS = _with_prefix("calls.other_flags", "calls.flags", "calls.default", "calls.passed_down") | {
    f"calls.{kind}"
    for kind in (*ir.FLAGS, "optional", "group", "either", "rest", "options", "star", "keyword")
}
"""Tags of calls that pass more than one tensor to a child."""


_EXCLUSIONS: Iterable[tuple[frozenset[str], frozenset[str]]] = (
    _at_most_one("hierarchy.flat", "hierarchy.depth2", "hierarchy.depth3", "hierarchy.depth4"),
    _at_most_one("dynamic.named", "dynamic.auto", "dynamic.dynamic"),
    (
        frozenset({"dynamic.range", "dynamic.edge", "control.within_size"}),
        frozenset({"dynamic.auto", "dynamic.dynamic"}),
    ),
    _at_most_one(*_with_prefix("idiom.")),
    # Without classes below the root no call has arguments that the Program chooses.
    (frozenset({"hierarchy.flat"}), frozenset({"hierarchy.guest"} | _CHILD_ARGUMENTS)),
    # A dynamic input is neither empty nor passed twice.
    (_with_prefix("dynamic."), frozenset({"input.same_twice", "input.view_of_another", "input.empty"})),
)
"""Pairs of groups: no Program has a tag of the first and another tag of the second."""


def can_meet(first: str, second: str) -> bool:
    """Whether a Program can have both tags."""
    return not any((first in a and second in b) or (first in b and second in a) for a, b in _EXCLUSIONS)

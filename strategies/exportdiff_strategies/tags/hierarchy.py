"""Detectors of how modules are nested and shared."""

from __future__ import annotations

from collections import defaultdict

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis, Place


def depth(p: Analysis) -> int:
    """The number of levels of module classes."""
    levels: dict[str, int] = {}
    for cls in p.classes:
        below = [
            levels[name] for name in (cls.guest, *(new.name for new in ir.new_modules(cls))) if name in levels
        ]
        levels[cls.name] = 1 + max(below, default=0)
    return levels[p.root.name]


def shared_modules(p: Analysis) -> list[list[Place]]:
    """The places of each module that can be reached in several ways."""
    found: dict[int, list[Place]] = defaultdict(list)
    for place in p.places:
        if not isinstance(place.module.kind, str):
            found[id(place.module)].append(place)
    return [group for group in found.values() if len(group) > 1]


def callers(p: Analysis) -> dict[int, set[int]]:
    """Module -> the modules that call it (all by id)."""
    found: dict[int, set[int]] = defaultdict(set)
    for call in p.called:
        found[call.callee].add(call.caller)
    return found


def never_called(p: Analysis) -> bool:
    """Whether nothing calls a module."""
    called = {call.callee for call in p.called}
    return any(
        id(place.module) not in called and not isinstance(place.module.kind, str) for place in p.places
    )


def at_two_depths(p: Analysis) -> bool:
    """Whether a module can be reached at two depths."""
    return any(len({place.depth for place in group}) > 1 for group in shared_modules(p))


def has_two_parents(p: Analysis) -> bool:
    """Whether a module is a child of two modules."""
    return any(len({id(place.parent) for place in group}) > 1 for group in shared_modules(p))


def has_two_names(p: Analysis) -> bool:
    """Whether a module has two names in the same parent."""
    ways = ({(id(place.parent), place.step) for place in group} for group in shared_modules(p))
    return any(len({parent for parent, _ in names}) < len(names) for names in ways)


def uses_slice(p: Analysis) -> bool:
    """Whether the code iterates over or calls part of a container."""
    paths = [node.container for node in p.nodes if isinstance(node, ir.Loop)]
    paths += [call.callee for call in p.calls]
    return any(isinstance(step, ir.Slice) for path in paths for step in path)

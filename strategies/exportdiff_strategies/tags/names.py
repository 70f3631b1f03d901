"""Detectors of names that torch uses itself."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.naming import ATTRIBUTES, KEYS, METHODS, WORDS, operator_names
from exportdiff_strategies.tags.analysis import Analysis


def named_as_torch(p: Analysis) -> bool:
    """Whether an attribute or a key has a name that torch uses itself."""
    attributes = {getattr(node, "attr", "") for node in p.nodes}
    keys = {key for node in p.nodes if isinstance(node, ir.Container) for key in node.keys}
    return not attributes.isdisjoint((*ATTRIBUTES, *METHODS, *WORDS)) or not keys.isdisjoint(KEYS)


def named_as_operator(p: Analysis) -> bool:
    """Whether an attribute has the name of an operator of the Program."""
    return not {getattr(node, "attr", "") for node in p.nodes}.isdisjoint(operator_names(p.program))


def named_alike(p: Analysis) -> bool:
    """Whether the name of a child begins with that of another child of the same module."""
    for cls in p.classes:
        names = [init.attr for init in cls.init if isinstance(init, ir.Child | ir.Container)]
        if any(one != other and other.startswith(one) for one in names for other in names):
            return True
    return False

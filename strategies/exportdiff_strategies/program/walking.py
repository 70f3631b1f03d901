"""Finding and replacing nodes of a Program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from exportdiff_strategies.program.classes import ClassDef
from exportdiff_strategies.program.construction import Fill, New
from exportdiff_strategies.program.literals import Key, Slice

N = TypeVar("N")


def nodes(root: object) -> Iterator[object]:
    """The node ``root`` (or each node of a tuple) and all nodes below, in source order, outermost first."""
    if isinstance(root, tuple):
        for item in root:
            yield from nodes(item)
    elif (parts := _parts(type(root))) is not None:
        yield root
        for name in parts:
            yield from nodes(getattr(root, name))


def rewritten(root: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of the tree at ``root`` in which ``change`` has replaced every node, innermost first."""
    if type(root) is tuple:  # not a Size, which is a value
        return tuple(rewritten(item, change) for item in root)
    if not is_dataclass(root) or isinstance(root, type):
        return root
    parts = {field.name: rewritten(getattr(root, field.name), change) for field in fields(root)}
    return change(replace(root, **parts))


_LEAVES = {"str", "int", "float", "bool", "AttributePath", "Shape", "Literal", "tuple[Literal, ...]"}
"""The types of fields that hold no nodes."""

_VALUES = (Fill, Key, Slice)
"""Dataclasses that are no nodes."""


_known: dict[type, tuple[str, ...] | None] = {}


def _parts(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of node that may hold further nodes; None if it is no kind of node."""
    if kind not in _known:
        is_node = is_dataclass(kind) and kind not in _VALUES
        _known[kind] = tuple(f.name for f in fields(kind) if f.type not in _LEAVES) if is_node else None
    return _known[kind]


def new_modules(cls: ClassDef) -> Iterator[New]:
    """The modules that the ``__init__`` of a class constructs, in source order."""
    return (node for node in nodes(cls.init) if isinstance(node, New))


def of_type(root: object, kind: type[N]) -> list[N]:
    """The nodes of one type in the tree at ``root``, in source order."""
    return [node for node in nodes(root) if isinstance(node, kind)]

"""What containers hold besides the leaves that pytree finds in them: the attributes of their objects."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.python_values import python_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_WITHOUT = (list, tuple, dict, OrderedDict, defaultdict, deque, torch.Size)
"""Containers without attributes. Most arguments and outputs are made of these."""


def attributes(tree: object, *, private: bool = False) -> dict[str, str]:
    """Return the attributes of all containers as text, by place; only public ones, unless ``private``.

    The children that pytree finds are left out: they are leaves, or in containers themselves.
    """
    found: dict[str, str] = {}
    for place, node, names in _containers(tree, ""):
        for name, value in _named(node):
            if name not in names and (private or not name.startswith("_")):
                found[f"{place}.{name}"] = _text(value)
    return found


def _containers(value: Any, place: str) -> Iterator[tuple[str, object, set[object]]]:
    """Yield each object that is a container, with its place and the names of its children."""
    kind = type(value)
    if isinstance(value, torch.Tensor) or kind in _LEAVES:
        return
    if kind in (list, tuple, torch.Size):
        parts = [(f"[{at}]", part) for at, part in enumerate(value)]
    elif kind is dict:
        parts = [(f"[{key!r}]", part) for key, part in value.items()]
    else:
        keyed = _children(value)
        if keyed is None:
            return
        parts = [(pytree.keystr(path), part) for path, part in keyed]
        if kind not in _WITHOUT:
            yield place, value, {_name(path[-1]) for path, _ in keyed}
    for step, part in parts:
        yield from _containers(part, place + step)


_LEAVES = (bool, int, float, complex, str, bytes, type(None))


def _children(value: object) -> list[tuple[Any, Any]] | None:
    """Return the children of a registered container with their paths; None if the value is a leaf."""

    def below(node: object) -> bool:
        return node is not value

    try:
        keyed, _ = pytree.tree_flatten_with_path(value, below)
    except ValueError:  # the class is registered without names for its children
        parts = pytree.tree_flatten(value, below)[0]
        keyed = [((pytree.SequenceKey(at),), part) for at, part in enumerate(parts)]
    return None if len(keyed) == 1 and keyed[0][1] is value else list(keyed)


def _name(step: object) -> object:
    return getattr(step, "name", getattr(step, "key", None))


def _named(node: object) -> list[tuple[str, object]]:
    names = [*vars(node)] if hasattr(node, "__dict__") else []
    for each in type(node).__mro__:
        slots = vars(each).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [(name, getattr(node, name)) for name in dict.fromkeys(names) if hasattr(node, name)]


def _text(value: object) -> str:
    """Write a value; a tensor and any other object without a stable text as its class."""
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if type(value) in (list, tuple, set, frozenset):
        return f"{type(value).__name__} {[_text(part) for part in value]}"  # type: ignore[attr-defined]
    if type(value) is dict:
        return f"dict { {repr(key): _text(part) for key, part in value.items()} }"
    return python_value(value)

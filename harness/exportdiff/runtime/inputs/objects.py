"""Copies arguments as objects: with their classes, their attributes, and what is one object in them.

pytree would build each container from its children alone. A library may have registered a class whose other
attributes are lost then, so that eager would get something that no user passes.
"""

from __future__ import annotations

import copy
import gc
import types
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.containers import attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


def copied(tree: T, copier: Callable[[torch.Tensor], torch.Tensor]) -> T:
    """Copy an object and all that it holds; ``copier`` copies the tensors. Modules are not copied."""
    memo: dict[int, Any] = {}
    for part in _reached(tree):
        if isinstance(part, nn.Module):
            memo[id(part)] = part
        elif isinstance(part, torch.Tensor):
            memo[id(part)] = copier(part)
    result: T = _copied(tree, memo)
    return result


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    made = dict(memo)  # a deep copy that fails leaves halves of copies in it
    try:
        result = copy.deepcopy(value, made)
    except Exception:  # some part cannot be copied, such as an open file
        pass
    else:
        memo.update(made)
        return result
    children, spec = pytree.tree_flatten(value, is_leaf=lambda node: node is not value)
    if children == [value]:  # it is a leaf
        return value
    return pytree.tree_unflatten([_copied(child, memo) for child in children], spec)


def _reached(value: object) -> Iterator[object]:
    """Yield the tensors and modules in an object, each once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, _SHARED):
            continue
        seen.add(id(part))
        if isinstance(part, torch.Tensor | nn.Module):
            yield part
        else:
            waiting += gc.get_referents(part)


_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
"""What a deep copy does not copy."""


def survives_rebuilding(tree: object) -> bool:
    """Whether pytree rebuilds an object from its leaves as it was, with all its attributes."""
    leaves, spec = pytree.tree_flatten(tree)
    try:
        rebuilt = pytree.tree_unflatten(leaves, spec)
    except Exception:
        return False
    return attributes(tree, private=True) == attributes(rebuilt, private=True)

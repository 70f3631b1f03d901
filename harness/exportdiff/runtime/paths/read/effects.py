"""The side effects of operators, and which of their operands they return."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import fx
from torch._ops import HigherOrderOperator
from torch.fx.node import _side_effectful_functions

from exportdiff.runtime.observing.tensors import storage_id


class Effects(NamedTuple):
    """The side effects of an operator."""

    name: str
    impure: bool = False
    """Whether it must run even if nothing reads its result and it changes no argument."""
    writes: tuple[int | str, ...] = ()
    """Positions and names of the arguments that it changes."""
    shares: tuple[int | str, ...] = ()
    """Positions and names of the arguments that its result may be a view of."""
    reshapes: bool = False
    """Whether what it changes is the metadata of its arguments."""


@lru_cache(4096)
def effects_of(target: Any) -> Effects:
    """Return an operator's side effects, from its schema. One that holds graphs counts as impure."""
    if isinstance(target, HigherOrderOperator):
        return Effects(target.__name__, impure=True)
    if not isinstance(target, torch._ops.OpOverload):
        name = getattr(target, "__name__", str(target))
        return Effects(name, target in _side_effectful_functions, shares=(0,))
    schema = target._schema
    writes: list[int | str] = []
    views: list[int | str] = []
    for number, argument in enumerate(schema.arguments):
        if (alias := argument.alias_info) is not None:
            key = argument.name if argument.kwarg_only else number
            views.append(key)
            writes += [key] if alias.is_write else []
    if str(target).startswith("aten.set_."):  # a schema cannot express that self becomes a view of the source
        views = list(range(len(schema.arguments)))
    random = torch.Tag.nondeterministic_seeded in target.tags
    impure = random or target in _side_effectful_functions
    returned = any(each.alias_info is not None for each in schema.returns)
    reshapes = torch.Tag.inplace_view in target.tags
    return Effects(str(target), impure, tuple(writes), tuple(views) if returned else (), reshapes)


_MAY_RETURN_THEIR_OPERAND: frozenset[Any] = frozenset(
    {
        torch.ops.aten.to,
        torch.ops.aten.type_as,
        torch.ops.aten.contiguous,
        torch.ops.aten.flatten,
        torch.ops.aten.atleast_1d,
        torch.ops.aten.atleast_2d,
        torch.ops.aten.atleast_3d,
        torch.ops.aten.real,
        torch.ops.aten.conj,
        torch.ops.aten.resolve_conj,
        torch.ops.aten.resolve_neg,
        torch.ops.aten.sum_to_size,
        torch.ops.aten.dropout,
        torch.ops.aten.alias,
    }
)
"""Operators that return their operand, the same tensor, where they have nothing to do; or an alias of it."""


def does_nothing(node: fx.Node) -> bool:
    """Whether an operator returns its first operand as it is, by the metadata that was recorded of both."""
    operand = node.args[0] if node.args else None
    overloads = getattr(node.target, "overloadpacket", None)
    if overloads not in _MAY_RETURN_THEIR_OPERAND or not isinstance(operand, fx.Node):
        return False
    given, result = operand.meta.get("val"), node.meta.get("val")
    if not isinstance(given, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    if given.layout != torch.strided or storage_id(given) != storage_id(result):
        return False
    return _metadata(given) == _metadata(result)


def _metadata(tensor: torch.Tensor) -> tuple[object, ...]:
    # as text: symbolic sizes would be compared by guards
    layout = map(str, (tensor.shape, tensor.stride(), tensor.storage_offset()))
    return *layout, tensor.dtype, tensor.is_conj(), tensor.is_neg()

"""Reading by index tensors, and the functional forms of writing by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from exportdiff_strategies.ops.rules import (
    FLOATS,
    INTS,
    REAL,
    agree,
    axis,
    check,
    dims,
    integers,
    making,
    unit,
    whole,
)
from exportdiff_strategies.ops.spec import (
    Choices,
    Operand,
    OpResult,
    OpSpec,
    Params,
    Rule,
    no_params,
    require,
)
from exportdiff_strategies.types import Shape, TensorType, drop, elementwise_stride, fresh, inexact, resized


def _picked(kind: TensorType, params: Params) -> Shape:
    """One dimension read at constant indices."""
    dim, chosen = axis(kind, params[0]), integers(params[1])
    require(max(chosen) < kind.shape[dim])
    return (*kind.shape[:dim], len(chosen), *kind.shape[dim + 1 :])


def _ends(kind: TensorType, params: Params) -> Shape:
    """``x[[0, -1]]``."""
    require(len(kind.shape) > 0 and kind.shape[0] > 0)
    return (2, *kind.shape[1:])


def _whole(kind: TensorType, params: Params) -> Shape:
    axis(kind, params[0])
    return kind.shape


def _by_tensor(operands: Sequence[Operand], params: Params) -> OpResult:
    """``x[i % n]`` with an int tensor ``i``."""
    first, second = operands
    check((second,), INTS)
    # Indexing by a tensor without dimensions returns a view.
    require(len(first.type.shape) > 0 and first.type.shape[0] > 0 and len(second.type.shape) > 0)
    shape = second.type.shape + first.type.shape[1:]
    require(len(shape) <= 4, "rank")
    return OpResult(fresh(shape, first.type.dtype), first.bound)


def _embedding(operands: Sequence[Operand], params: Params) -> OpResult:
    first, second = operands
    check((first,), INTS)
    check((second,), FLOATS)
    require(len(second.type.shape) == 2 and second.type.shape[0] > 0 and len(first.type.shape) < 4)
    return OpResult(fresh((*first.type.shape, second.type.shape[1]), second.type.dtype), second.bound)


def _gather(operands: Sequence[Operand], params: Params) -> OpResult:
    first, second = operands
    check((second,), frozenset({"int64"}))
    dim = axis(first.type, params[0])
    have, want = first.type.shape, second.type.shape
    require(len(have) == len(want) and have[dim] > 0)
    require(all(b <= a for i, (a, b) in enumerate(zip(have, want, strict=True)) if i != dim))
    return OpResult(fresh(want, first.type.dtype), first.bound)


def _added(operands: Sequence[Operand], params: Params) -> OpResult:
    """The second operand is added to the beginning of one dimension of the first."""
    first, second = operands
    agree(operands)
    require(first.type.dtype != "bool")
    beginning(first, second, axis(first.type, params[0]))
    return OpResult(fresh(first.type.shape, first.type.dtype), first.bound + second.bound)


def beginning(target: Operand, source: Operand, dim: int) -> None:
    """Raise Rejected unless the source has the sizes of the target, or fewer elements in one dimension."""
    have, want = target.type.shape, source.type.shape
    require(len(have) == len(want) and want[dim] <= have[dim])
    require(have[:dim] == want[:dim] and have[dim + 1 :] == want[dim + 1 :])


def _patches(part: Callable[[TensorType, int], TensorType]) -> Rule:
    """A copy of the first operand, with the same strides, with another first slice in one dimension."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first, second = operands
        check(operands, REAL)
        kind = first.type
        dim = axis(kind, params[0])
        require(kind.shape[dim] > 0 and part(kind, dim).shape == second.type.shape)
        require(inexact(kind.dtype) or not second.grad, "requires grad")
        holed = kind
        if kind.overlaps:
            holed = fresh(kind.shape, kind.dtype)
        elif first.lazy:  # it is computed first
            holed = replace(kind, stride=elementwise_stride(kind))
        return OpResult(holed, max(first.bound, second.bound))

    return rule


def _one_place(kind: TensorType, dim: int) -> TensorType:
    return resized(kind, dim, 1)


def _one_hot(kind: TensorType, params: Params) -> Shape:
    require(len(kind.shape) < 4)
    return (*kind.shape, 3)


def picks(operands: Sequence[Operand]) -> list[Params]:
    """A dimension, and indices in it."""
    shape = operands[0].type.shape
    found: list[Params] = [(dim, (0,)) for dim, size in enumerate(shape) if size]
    return found + [(dim, (1, 0)) for dim, size in enumerate(shape) if size > 1]


_INDEX = "torch.tensor({p[1]}, device={0}.device)"


def _index(template: str, arity: int, rule: Rule, choices: Choices = dims) -> OpSpec:
    return OpSpec(template, "index", arity, rule, choices)


TABLE: dict[str, OpSpec] = {
    "index_select": _index(f"{{0}}.index_select({{p[0]}}, {_INDEX})", 1, making(_picked), picks),
    "index_list": _index("{0}[[0, -1]]", 1, making(_ends, loose=True), no_params),
    "index_tensor": _index("{0}[{1} % {0}.shape[0]]", 2, _by_tensor, no_params),
    "gather": _index("{0}.gather({p[0]}, {1} % {0}.shape[{p[0]}])", 2, _gather),
    "take_along_dim": _index(
        "torch.take_along_dim({0}, {0}.argsort(dim={p[0]}, stable=True), {p[0]})",
        1,
        making(_whole, REAL, loose=True),
    ),
    "embedding": _index("F.embedding({0} % {1}.shape[0], {1})", 2, _embedding, no_params),
    "one_hot": OpSpec(
        "F.one_hot({0}.long().clamp(0, 2), 3)",
        "index",
        1,
        making(_one_hot, REAL, unit, whole, loose=True),
        stops_grad=True,
    ),
    "index_add": _index(
        "{0}.index_add({p[0]}, torch.arange({1}.shape[{p[0]}], device={0}.device), {1})", 2, _added
    ),
    "select_scatter": _index("{0}.select_scatter({1}, {p[0]}, 0)", 2, _patches(drop)),
    "slice_scatter": _index("{0}.slice_scatter({1}, {p[0]}, 0, 1)", 2, _patches(_one_place)),
}

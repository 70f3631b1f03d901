"""Ops that make new tensors of other sizes from the elements of one or two tensors."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import (
    ANY,
    LARGEST,
    REAL,
    Bound,
    Dtypes,
    Shaper,
    axis,
    dims,
    gaps,
    integer,
    integers,
    itself,
    joint,
    making,
    same,
)
from exportdiff_strategies.ops.spec import Choices, Operand, OpResult, OpSpec, Params, no_params, require
from exportdiff_strategies.types import Shape, TensorType, dense, fresh


def _make(
    template: str, shape: Shaper, choices: Choices = dims, takes: Dtypes = ANY, bound: Bound = same
) -> OpSpec:
    return OpSpec(template, "shape", 1, making(shape, takes, bound, loose=True), choices)


def _contiguous(operands: Sequence[Operand], params: Params) -> OpResult:
    first = operands[0]
    require(first.type.contiguous is not None, "strides unknown")
    if first.type.contiguous:
        return itself(first)
    return OpResult(dense(first.type.shape, first.type.dtype), first.bound)


def _combined(operands: Sequence[Operand], shape: Shape) -> OpResult:
    first, second = operands
    packed = first.type.contiguous and second.type.contiguous
    maker = dense if packed or len(shape) < 4 else fresh
    dtype = joint(operands)
    require(dtype in ANY)
    return OpResult(maker(shape, dtype), max(first.bound, second.bound))


def _cat(operands: Sequence[Operand], params: Params) -> OpResult:
    """Only equal ranks: otherwise ``cat`` drops an operand of shape (0,)."""
    first, second = operands[0].type.shape, operands[1].type.shape
    dim = integer(params[0])
    require(dim < len(first) == len(second), "ranks differ")
    require(first[:dim] == second[:dim] and first[dim + 1 :] == second[dim + 1 :], "sizes differ")
    require(first[dim] + second[dim] <= LARGEST, "large")
    return _combined(operands, (*first[:dim], first[dim] + second[dim], *first[dim + 1 :]))


def _stack(operands: Sequence[Operand], params: Params) -> OpResult:
    shape, dim = operands[0].type.shape, integer(params[0])
    require(shape == operands[1].type.shape and dim <= len(shape) < 4)
    return _combined(operands, (*shape[:dim], 2, *shape[dim:]))


def _along(kind: TensorType, params: Params) -> Shape:
    axis(kind, params[0])
    return kind.shape


def _longer(kind: TensorType, dim: int, factor: int, more: int = 0) -> Shape:
    """One dimension is multiplied by ``factor``, and ``more`` is added."""
    require(0 <= dim < len(kind.shape), "no dimension")
    size = kind.shape[dim] * factor + more
    require(0 <= size <= LARGEST, "large")
    return (*kind.shape[:dim], size, *kind.shape[dim + 1 :])


def _doubled(kind: TensorType, params: Params) -> Shape:
    return _longer(kind, integer(params[0]), 2)


def _last(factor: int, more: int) -> Shaper:
    return lambda kind, params: _longer(kind, len(kind.shape) - 1, factor, more)


def _repeated(kind: TensorType, params: Params) -> Shape:
    counts = integers(params[0])
    require(len(counts) >= len(kind.shape))
    sizes = (1,) * (len(counts) - len(kind.shape)) + kind.shape
    shape = tuple(size * count for size, count in zip(sizes, counts, strict=True))
    require(max(shape, default=0) <= LARGEST, "large")
    return shape


def _counts(operands: Sequence[Operand]) -> list[Params]:
    rank = len(operands[0].type.shape)
    ones = (1,) * rank
    found: list[Params] = [((2, *ones),)] if rank < 4 else []
    return [*found, *(((*ones[:dim], 2, *ones[dim + 1 :]),) for dim in range(rank))]


def _matrix(kind: TensorType, params: Params) -> Shape:
    require(len(kind.shape) >= 2)
    return kind.shape


TABLE: dict[str, OpSpec] = {
    "cat": OpSpec("torch.cat([{0}, {1}], {p[0]})", "shape", 2, _cat, dims),
    "stack": OpSpec("torch.stack([{0}, {1}], {p[0]})", "shape", 2, _stack, gaps),
    "cat_self": _make("torch.cat([{0}, {0}], {p[0]})", _doubled),
    "flip": _make("{0}.flip({p[0]})", _along),
    "roll": _make("{0}.roll(1, {p[0]})", _along),
    "contiguous": OpSpec("{0}.contiguous()", "shape", 1, _contiguous),
    "tile": _make("{0}.tile(2)", _last(2, 0), no_params),
    "repeat": _make("{0}.repeat({p[0]})", _repeated, _counts),
    "repeat_interleave": _make("{0}.repeat_interleave(2, dim={p[0]})", _doubled),
    "pad": _make("F.pad({0}, (1, 0))", _last(1, 1), no_params),
    "pad_one": _make("F.pad({0}, (0, 1), value=1)", _last(1, 1), no_params, REAL, lambda x: max(x, 1)),
    "trim": _make("F.pad({0}, (-1, 0))", _last(1, -1), no_params),
    "tril": _make("{0}.tril()", _matrix, no_params),
    "triu": _make("{0}.triu(1)", _matrix, no_params),
}

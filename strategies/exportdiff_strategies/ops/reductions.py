"""Reductions, and ops that work along a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import (
    ANY,
    FLOATS,
    INEXACT,
    NUMBERS,
    REAL,
    SINGLES,
    WHOLE,
    Dtypes,
    Result,
    axis,
    check,
    dims,
    kept,
    summed,
    truth,
    whole,
)
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, require
from exportdiff_strategies.types import Shape, dense, fresh

Growth = Callable[[float, int], float]
"""From the bound and the number of elements in one result to the bound of the result."""

Sizes = Callable[[Shape, int], Shape]
"""The new sizes, given the dimension."""


def _gone(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


def _one(shape: Shape, dim: int) -> Shape:
    return (*shape[:dim], 1, *shape[dim + 1 :])


def _along(shape: Shape, dim: int) -> Shape:
    return shape


def _less(shape: Shape, dim: int) -> Shape:
    return (*shape[:dim], shape[dim] - 1, *shape[dim + 1 :])


def _total(x: float, count: int) -> float:
    return x * count


def _most(x: float, count: int) -> float:
    return x


def _unit(x: float, count: int) -> float:
    return 1.0


def _count(x: float, count: int) -> float:
    return float(count)


def _product(x: float, count: int) -> float:
    # With many factors, the float would overflow before the bound is checked.
    return float(max(x, 1.0) ** min(count, 16)) if count <= 16 else math.inf


def _root(x: float, count: int) -> float:
    return x * math.sqrt(count)


def _reduce(
    template: str,
    bound: Growth,
    takes: Dtypes = NUMBERS,
    result: Result = kept,
    sizes: Sizes = _gone,
    least: int = 1,
    stops_grad: bool = False,
    loose: bool = False,
) -> OpSpec:
    """Over one dimension with at least ``least`` elements; ``loose``: row-major only if the operand is."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        kind = first.type
        check(operands, takes)
        dim = axis(kind, params[0])
        count = kind.shape[dim]
        require(count >= least and (least == 0 or kind.numel > 0))
        shape = sizes(kind.shape, dim)
        maker = fresh if loose and not kind.contiguous else dense
        return OpResult(maker(shape, result(operands)), bound(first.bound, count))

    return OpSpec(template, "reduce", 1, rule, dims, stops_grad=stops_grad)


def _whole(template: str, bound: Growth, takes: Dtypes, result: Result = kept, least: int = 1) -> OpSpec:
    """Over all dimensions."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        check(operands, takes)
        count = first.type.numel
        require(count >= least)
        return OpResult(dense((), result(operands)), bound(first.bound, count))

    return OpSpec(template, "reduce", 1, rule)


TABLE: dict[str, OpSpec] = {
    "sum_dim": _reduce("{0}.sum({p[0]})", _total, ANY, summed, least=0),
    "mean_dim": _reduce("{0}.mean({p[0]})", _most, INEXACT),
    "amax": _reduce("{0}.amax({p[0]})", _most, REAL),
    "amin": _reduce("{0}.amin({p[0]})", _most, REAL),
    "sum_keep": _reduce("{0}.sum({p[0]}, keepdim=True)", _total, ANY, summed, _one, least=0),
    "mean_keep": _reduce("{0}.mean({p[0]}, keepdim=True)", _most, INEXACT, kept, _one),
    "amax_keep": _reduce("{0}.amax({p[0]}, keepdim=True)", _most, REAL, kept, _one),
    "prod": _reduce("{0}.prod({p[0]})", _product, SINGLES | WHOLE, summed, least=0),
    "std": _reduce("{0}.std({p[0]})", lambda x, n: 2 * x, FLOATS, least=2),
    "var": _reduce("{0}.var({p[0]}, correction=0)", lambda x, n: x * x, FLOATS),
    "norm_dim": _reduce("torch.linalg.vector_norm({0}, dim={p[0]})", _root, FLOATS),
    "logsumexp": _reduce("{0}.logsumexp({p[0]})", lambda x, n: x + n, FLOATS),
    "argmax": _reduce("{0}.argmax({p[0]})", _count, NUMBERS, whole, stops_grad=True),
    "any_dim": _reduce("{0}.any({p[0]})", _unit, ANY, truth, least=0),
    "all_dim": _reduce("{0}.all({p[0]})", _unit, ANY, truth, least=0),
    "max_values": _reduce("{0}.max({p[0]}).values", _most, REAL),
    "cumsum": _reduce("{0}.cumsum({p[0]})", _total, ANY, summed, _along, least=0),
    "cummax": _reduce("{0}.cummax({p[0]}).values", _most, REAL, kept, _along),
    "diff": _reduce("{0}.diff(dim={p[0]})", lambda x, n: 2 * x, NUMBERS, kept, _less, loose=True),
    "sort": _reduce("{0}.sort({p[0]}).values", _most, REAL, kept, _along, loose=True),
    "argsort": _reduce(
        "{0}.argsort(dim={p[0]}, stable=True)",
        *(_count, REAL, whole, _along),
        stops_grad=True,
        loose=True,
    ),
    "topk": _reduce("{0}.topk(1, dim={p[0]}).values", _most, NUMBERS, kept, _one),
    "sum": _whole("{0}.sum()", _total, ANY, summed, least=0),
    "mean": _whole("{0}.mean()", _most, INEXACT),
    "max": _whole("{0}.max()", _most, REAL),
    "norm": _whole("{0}.norm()", _root, FLOATS),
    "any": _whole("{0}.any()", _unit, ANY, truth, least=0),
    "count_nonzero": _whole("{0}.count_nonzero()", _count, ANY, whole, least=0),
    "masked_sum": _whole("{0}[{0} > 0].sum()", _total, REAL, summed, least=0),
    "masked_mean": _whole("{0}[{0} >= 0].sum() / {0}.numel()", _most, FLOATS),
}

"""Ops whose text computes with the sizes of the operand, as real code does: ``x.view(x.size(0), -1)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import (
    FLOATS,
    NUMBERS,
    SIGNED,
    Bound,
    Dtypes,
    Result,
    check,
    elementwise,
    floating,
    kept,
    viewing,
)
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, Rule, require
from exportdiff_strategies.ops.views import as_view, reshaped
from exportdiff_strategies.types import TensorType, dense, numel, promote, resized


def _part(template: str, size: Callable[[int], int], step: int = 1) -> OpSpec:
    """Some of the rows; ``size`` maps the number of all rows to how many there are."""

    def change(kind: TensorType, params: Params) -> TensorType:
        require(len(kind.shape) > 0 and size(kind.shape[0]) > 0)
        return resized(kind, 0, size(kind.shape[0]), step)

    return OpSpec(template, "size", 1, viewing(change))


def _flat_rows(kind: TensorType, params: Params) -> TensorType:
    require(len(kind.shape) > 1 and kind.numel > 0)
    return as_view(kind, (kind.shape[0], numel(kind.shape[1:])))


def _flat_columns(operands: Sequence[Operand], params: Params) -> OpResult:
    """``x.reshape(-1, x.shape[-1])``."""
    kind = operands[0].type
    require(len(kind.shape) > 1 and kind.numel > 0)
    return reshaped(operands[0], (numel(kind.shape[:-1]), kind.shape[-1]))


def _map(template: str, bound: Bound, takes: Dtypes, result: Result) -> OpSpec:
    def sized(operands: Sequence[Operand], params: Params) -> OpResult:
        require(len(operands[0].type.shape) > 0 and operands[0].type.numel > 0)
        return rule(operands, params)

    rule: Rule = elementwise(bound, takes, result)
    return OpSpec(template, "size", 1, sized)


def _positions(operands: Sequence[Operand], params: Params) -> OpResult:
    """``x + torch.arange(x.shape[-1])``."""
    first = operands[0]
    check(operands, SIGNED)
    require(len(first.type.shape) > 0 and first.type.numel > 0)
    dtype = promote(first.type, dense(first.type.shape[-1:], "int64"))
    found = elementwise(lambda x: x + first.type.shape[-1], SIGNED)(operands, params)
    require(first.type.packed, "the memory layout of the sum depends on both")
    return OpResult(TensorType(found.type.shape, found.type.stride, dtype), found.bound)


def _mean(operands: Sequence[Operand], params: Params) -> OpResult:
    """``x.sum(0) / x.shape[0]``."""
    first = operands[0]
    check(operands, FLOATS)
    require(len(first.type.shape) > 0 and first.type.numel > 0)
    return OpResult(dense(first.type.shape[1:], first.type.dtype), first.bound)


def _zeros(operands: Sequence[Operand], params: Params) -> OpResult:
    """``torch.zeros(x.shape[0], x.shape[-1] // 2 + 1)``."""
    shape = operands[0].type.shape
    require(len(shape) > 0)
    return OpResult(dense((shape[0], shape[-1] // 2 + 1)), 0.0)


TABLE: dict[str, OpSpec] = {
    "flat_rows": OpSpec("{0}.view({0}.size(0), -1)", "size", 1, viewing(_flat_rows)),
    "flat_columns": OpSpec("{0}.reshape(-1, {0}.shape[-1])", "size", 1, _flat_columns),
    "floor_half": _part("{0}[: math.floor({0}.shape[0] / 2)]", lambda n: math.floor(n / 2)),
    "second_half": _part("{0}[math.ceil({0}.shape[0] / 2) :]", lambda n: n - math.ceil(n / 2)),
    "rounded_half": _part("{0}[: round({0}.shape[0] / 2)]", lambda n: round(n / 2)),
    "last_two": _part("{0}[-min(2, {0}.shape[0]) :]", lambda n: min(2, n)),
    "all_but_one": _part("{0}[: max(1, {0}.shape[0] - 1)]", lambda n: max(1, n - 1) if n else 0),
    "every_other": _part("{0}[: {0}.shape[0] : 2]", lambda n: (n + 1) // 2, step=2),
    "odd_rows": _part("{0}[1 : {0}.size(0) : 2]", lambda n: n // 2, step=2),
    "every_other_but_one": _part("{0}[: {0}.shape[0] - 1 : 2]", lambda n: n // 2, step=2),
    "every_third_of_half": _part("{0}[{0}.shape[0] // 2 :: 3]", lambda n: (n - n // 2 + 2) // 3, step=3),
    "over_root": _map("{0} / math.sqrt({0}.size(-1))", lambda x: x, NUMBERS, floating),
    "over_size": _map("{0} / {0}.shape[0]", lambda x: x, NUMBERS, floating),
    "times_ratio": _map("{0} * ({0}.size(0) / {0}.size(-1))", lambda x: 8 * x, FLOATS, kept),
    "sum_over_size": OpSpec("{0}.sum(0) / {0}.shape[0]", "size", 1, _mean),
    "with_positions": OpSpec("{0} + torch.arange({0}.shape[-1])", "size", 1, _positions),
    "zeros_of_size": OpSpec(
        "torch.zeros({0}.shape[0], {0}.shape[-1] // 2 + 1)", "size", 1, _zeros, stops_grad=True
    ),
}

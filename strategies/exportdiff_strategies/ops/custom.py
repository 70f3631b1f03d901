"""Custom operators, which the source of a Program defines."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, forbid
from exportdiff_strategies.types import dense


def _twice(operands: Sequence[Operand], params: Params) -> OpResult:
    kind = operands[0].type
    forbid(kind.dtype == "bool" or not kind.contiguous, "numbers in a row only")
    return OpResult(dense(kind.shape, kind.dtype), operands[0].bound * 2)


def _bump(operands: Sequence[Operand], params: Params) -> OpResult:
    kind = operands[0].type
    forbid(kind.dtype == "bool" or kind.overlaps or operands[0].lazy, "writable numbers only")
    return OpResult(kind, operands[0].bound + 1, alias=True, same=True)


TABLE: dict[str, OpSpec] = {
    "twice": OpSpec("twice({0})", "custom", 1, _twice, preamble="custom_op"),
    "bump": OpSpec(
        "bump({0})", "inplace.custom", 1, _bump, mutates="value", statement=True, preamble="mutating_op"
    ),
}

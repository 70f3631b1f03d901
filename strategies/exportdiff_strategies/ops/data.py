"""Ops whose result has sizes that depend on data: export gives each a size without a hint.

The data is made in place, of ones, so that the sizes are known here although no trace knows them. None is 0
or 1: export takes a size without a hint for neither, as torch/fx/experimental/symbolic_shapes.py says at
guard_size_oblivious, and broadcasts accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import LARGEST, Shaper, making, unit, viewing
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, require
from exportdiff_strategies.types import Shape, TensorType, resized

_ROWS = "torch.ones({0}.shape[0], dtype=torch.bool, device={0}.device)"
_ALL = "torch.ones_like({0}, dtype=torch.bool)"
_ALL_OF_TWO = "torch.ones(2, *{0}.shape, dtype=torch.bool, device={0}.device)"
_TWO = "torch.ones(2).sum().int().item()"


def _new(template: str, shape: Shaper) -> OpSpec:
    return OpSpec(template, "data", 1, making(shape, loose=True), untraced=True)


def _flat(kind: TensorType, params: Params) -> Shape:
    require(kind.numel > 1)
    return (kind.numel,)


def _flat_of_two(kind: TensorType, params: Params) -> Shape:
    require(1 < kind.numel <= LARGEST // 2)
    return (2 * kind.numel,)


def _rows(kind: TensorType, params: Params) -> Shape:
    require(len(kind.shape) > 0 and kind.shape[0] > 1)
    return kind.shape


def _twice(kind: TensorType, params: Params) -> Shape:
    require(len(kind.shape) > 0 and 0 < 2 * kind.shape[0] <= LARGEST)
    return (2 * kind.shape[0], *kind.shape[1:])


def _first_two(kind: TensorType, params: Params) -> TensorType:
    require(len(kind.shape) > 0 and kind.shape[0] > 1)
    return resized(kind, 0, 2)


def _nonzero(operands: Sequence[Operand], params: Params) -> OpResult:
    """The indices of four ones, column by column in memory."""
    return OpResult(TensorType((4, 2), (1, 4), "int64"), 1.0)


TABLE: dict[str, OpSpec] = {
    "select_rows": _new(f"{{0}}[{_ROWS}]", _rows),
    "select_all": _new(f"{{0}}[{_ALL}]", _flat),
    "masked_select": _new(f"{{0}}.masked_select({_ALL})", _flat),
    # The mask has one dimension more: each element is selected twice.
    "masked_select_broadcast": _new(f"{{0}}.masked_select({_ALL_OF_TWO})", _flat_of_two),
    "repeat_rows": _new(
        "{0}.repeat_interleave(torch.full(({0}.shape[0],), 2, device={0}.device), 0)", _twice
    ),
    "first_rows": OpSpec(f"{{0}}[:{_TWO}]", "data", 1, viewing(_first_two), untraced=True),
    "nonzero": OpSpec("{0}.new_ones(2, 2).nonzero()", "data", 1, _nonzero, stops_grad=True, untraced=True),
    "ones_of_item": OpSpec(
        f"{{0}}.new_ones({_TWO}, 3)",
        "data",
        1,
        making(lambda kind, params: (2, 3), bound=unit),
        stops_grad=True,
        untraced=True,
    ),
}

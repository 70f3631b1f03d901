"""Ops that change sizes, strides or storage of their first operand in place."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import (
    Change,
    gaps,
    integers,
    itself,
    pairs,
    places,
    singles,
    slices,
    turning,
)
from exportdiff_strategies.ops.spec import Choices, Operand, OpResult, OpSpec, Params, no_params, require
from exportdiff_strategies.ops.views import (
    as_view,
    reversals,
    row,
    rows,
    squeezed,
    squeezed_all,
    strided,
    swapped,
    turned,
    unsqueezed,
    whole,
)
from exportdiff_strategies.types import TensorType, dense, inexact, numel


def _meta(template: str, change: Change, choices: Choices = no_params) -> OpSpec:
    return OpSpec(template, "inplace.metadata", 1, turning(change), choices, mutates="metadata")


def _squeezed(operands: Sequence[Operand], params: Params) -> OpResult:
    """Of what is conjugated or negated when it is read, ``squeeze_(dim)`` warns that it resizes an output."""
    require(not operands[0].lazy)
    return turning(squeezed)(operands, params)


def _flat(kind: TensorType, params: Params) -> TensorType:
    require(kind.numel > 0)
    return as_view(kind, (kind.numel,))


def _resized(operands: Sequence[Operand], params: Params) -> OpResult:
    """``resize_`` to no more elements than there are: new elements would be uninitialized."""
    first, shape = operands[0], integers(params[0])
    kind = first.type
    require(not first.grad, "requires grad")
    require(kind.stride is not None and not kind.overlaps and kind.numel > 0)
    require(0 < numel(shape) <= kind.numel and shape != kind.shape)
    return OpResult(dense(shape, kind.dtype), first.bound, alias=True, same=True)


def _fewer(operands: Sequence[Operand]) -> list[Params]:
    kind = operands[0].type
    found = [kind.shape[::-1], (kind.numel,), (kind.numel - 1,), (1, kind.numel)]
    return [(shape,) for shape in dict.fromkeys(found) if shape != kind.shape and 0 not in shape]


def _started(operands: Sequence[Operand], params: Params) -> OpResult:
    require(inexact(operands[0].type.dtype) and not operands[0].grad)
    return itself(operands[0])


def _adopted(operands: Sequence[Operand], params: Params) -> OpResult:
    """The first operand gets the second operand's memory."""
    first, second = operands
    require(first is not second and first.type.dtype == second.type.dtype)
    require(not first.grad and not second.grad, "requires grad")
    return OpResult(second.type, second.bound, same=True, adopts=1)


def _own(template: str, change: Change, choices: Choices = no_params) -> OpSpec:
    """``x.data = <a view of x.data>``."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        require(not operands[0].grad, "gradients would have another shape")
        return turning(change)(operands, params)

    text = "{0}.data = {0}.data" + template
    return OpSpec(text, "inplace.own_data", 1, rule, choices, mutates="metadata", statement=True)


TABLE: dict[str, OpSpec] = {
    "t_": _meta("{0}.t_()", turned),
    "transpose_": _meta("{0}.transpose_({p[0]}, {p[1]})", swapped, pairs),
    "swapaxes_": _meta("{0}.swapaxes_({p[0]}, {p[1]})", swapped, pairs),
    "swapdims_": _meta("{0}.swapdims_({p[0]}, {p[1]})", swapped, pairs),
    "squeeze_": OpSpec("{0}.squeeze_({p[0]})", "inplace.metadata", 1, _squeezed, singles, "metadata"),
    "squeeze_all_": _meta("{0}.squeeze_()", squeezed_all),
    "unsqueeze_": _meta("{0}.unsqueeze_({p[0]})", unsqueezed, gaps),
    "as_strided_": OpSpec(
        "{0}.as_strided_({p[0]}, {p[1]})", "inplace.storage", 1, turning(strided), reversals, "metadata"
    ),
    "resize_": OpSpec("{0}.resize_({p[0]})", "inplace.storage", 1, _resized, _fewer, "metadata"),
    "detach_": OpSpec(
        "{0}.detach_()", "inplace.metadata", 1, turning(whole), mutates="metadata", stops_grad=True
    ),
    "requires_grad_": OpSpec(
        "{0}.requires_grad_()", "inplace.metadata", 1, _started, mutates="metadata", starts_grad=True
    ),
    "set_": OpSpec("{0}.set_({1})", "inplace.storage", 2, _adopted, mutates="metadata"),
    "set_data": OpSpec("{0}.data = {1}", "inplace.storage", 2, _adopted, mutates="metadata", statement=True),
    "data_t": _own(".t()", turned),
    "data_transpose": _own(".transpose({p[0]}, {p[1]})", swapped, pairs),
    "data_rows": _own("[{p[0]}:{p[1]}]", rows, slices),
    "data_row": _own("[{p[0]}]", row, places),
    "data_unsqueeze": _own(".unsqueeze({p[0]})", unsqueezed, gaps),
    "data_view": _own(".view(-1)", _flat),
}

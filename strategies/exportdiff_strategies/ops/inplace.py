"""Ops that write values into their first operand, elementwise or by item assignment."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.basic_index import indexed, indices
from exportdiff_strategies.ops.rules import (
    ANY,
    FLOATS,
    INEXACT,
    NUMBERS,
    REAL,
    SIGNED,
    WHOLE,
    Bound,
    Change,
    Dtypes,
    Result,
    changed,
    check,
    fitting,
    floating,
    guided,
    joint,
    kept,
    places,
    same,
    slices,
    unit,
    writable,
    writes,
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
from exportdiff_strategies.ops.views import row, rows, stepped, whole
from exportdiff_strategies.types import castable, category, promote


def _write(
    template: str, bound: Bound = same, takes: Dtypes = NUMBERS, result: Result = kept, mixed: bool = True
) -> OpSpec:
    rule = writes(bound, takes, result, mixed)
    return OpSpec(template, "inplace.value", 2 if "{1}" in template else 1, rule, mutates="value")


def _judge(template: str, bound: Bound) -> OpSpec:
    """An op for which the second operand only decides where the first one changes."""
    return OpSpec(template, "inplace.value", 2, guided(writes(bound, REAL)), mutates="value")


def _copy(operands: Sequence[Operand], params: Params) -> OpResult:
    """``copy_`` casts its source."""
    target, source = operands
    writable(target)
    fitting(target.type.shape, source.type.shape)
    _stored(target, source)
    return changed(target, max(target.bound, source.bound))


def _stored(target: Operand, source: Operand) -> None:
    """Raise Rejected for a write that drops an imaginary part, or that negates truth values.

    The first warns. As to the second, what is negated when it is read is stored first, and then negated.
    """
    require(category(source.type.dtype) != "complex" or category(target.type.dtype) == "complex")
    require(not source.lazy or target.type.dtype != "bool")


def _diagonal(operands: Sequence[Operand], params: Params) -> OpResult:
    target = operands[0]
    writable(target)
    require(len(target.type.shape) == 2 and 0 not in target.type.shape)
    return changed(target, max(target.bound, 2.0))


def _matrix(operands: Sequence[Operand], params: Params) -> OpResult:
    target = operands[0]
    writable(target)
    require(len(target.type.shape) >= 2)
    return changed(target, target.bound)


# --- item assignment --------------------------------------------------------------------------------------


def _stores(part: Change, constant: float = 0.0, takes: Dtypes = ANY) -> Rule:
    """A rule for ``x[...] = y``: it casts the value, which must broadcast to the assigned part."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        target = operands[0]
        check((target,), takes)
        writable(target, *operands[1:], distinct=True)
        place = part(target.type, params)
        bound = max(target.bound, constant)
        for value in operands[1:]:
            fitting(place.shape, value.type.shape)
            _stored(target, value)
            bound = max(bound, value.bound)
        return changed(target, bound)

    return rule


def _adds(part: Change) -> Rule:
    """A rule for ``x[...] += y``.

    If ``x`` is a view that starts to require grad by the addition, autograd mistakes the following assignment
    for one to a leaf.
    """

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        target, value = operands
        writable(target, value, distinct=True)
        require(target.grad or not value.grad, "requires grad")
        place = part(target.type, params)
        fitting(place.shape, value.type.shape)
        require(castable(promote(place, value.type), target.type.dtype))
        return changed(target, target.bound + value.bound)

    return rule


def _swaps(operands: Sequence[Operand], params: Params) -> OpResult:
    """``x[[0, 1]] = x[[1, 0]]``."""
    target = operands[0]
    writable(target)
    require(len(target.type.shape) > 0 and target.type.shape[0] > 1)
    return changed(target, target.bound)


def _store(template: str, rule: Rule, choices: Choices = no_params) -> OpSpec:
    arity = 2 if "{1}" in template else 1
    return OpSpec(template, "inplace.item", arity, rule, choices, mutates="value", statement=True)


TABLE: dict[str, OpSpec] = {
    # one tensor
    "add_": _write("{0}.add_(1)", lambda x: x + 1, SIGNED),
    "mul_": _write("{0}.mul_(2)", lambda x: x * 2, SIGNED),
    "neg_": _write("{0}.neg_()", same, SIGNED),
    "sub_": _write("{0}.sub_(1)", lambda x: x + 1, SIGNED),
    "div_": _write("{0}.div_(2)", same, INEXACT),
    "relu_": _write("{0}.relu_()"),
    "f_relu_": _write("F.relu({0}, inplace=True)"),
    "silu_": _write("F.silu({0}, inplace=True)", same, FLOATS),
    "leaky_relu_": _write("F.leaky_relu({0}, 0.1, inplace=True)", same, FLOATS),
    "hardtanh_": _write("F.hardtanh({0}, inplace=True)", same, FLOATS),
    "tanh_": _write("{0}.tanh_()", same, FLOATS),
    "sigmoid_": _write("{0}.sigmoid_()", unit, FLOATS),
    "abs_": _write("{0}.abs_()"),
    "sqrt_": _write("{0}.abs_().add_(1).sqrt_()", lambda x: x + 1, FLOATS),
    "exp_": _write("{0}.clamp_(max=1).exp_()", lambda x: max(x, 2.72), FLOATS),
    "square_": _write("{0}.square_()", lambda x: max(x, x * x)),
    "round_": _write("{0}.round_()", lambda x: x + 1),
    "floor_": _write("{0}.floor_()", lambda x: x + 1),
    "clamp_": _write("{0}.clamp_(-1, 1)"),
    "clamp_min_": _write("{0}.clamp_(min=0)"),
    "zero_": _write("{0}.zero_()", same, ANY),
    "fill_": _write("{0}.fill_(2)", lambda x: max(x, 2.0), ANY),
    "masked_fill_": _write("{0}.masked_fill_({0} > 0, 0.5)", lambda x: x + 1, FLOATS),
    "gt_": _write("{0}.gt_(0)", lambda x: max(x, 1.0), REAL),
    "logical_not_": _write("{0}.logical_not_()", lambda x: max(x, 1.0), ANY),
    "bitwise_not_": _write("{0}.bitwise_not_()", lambda x: x + 1, WHOLE),
    "fill_diagonal_": OpSpec("{0}.fill_diagonal_(2)", "inplace.value", 1, _diagonal, mutates="value"),
    "tril_": OpSpec("{0}.tril_()", "inplace.value", 1, _matrix, mutates="value"),
    # two tensors
    "add_tensor_": _write("{0}.add_({1})", lambda x, y: x + y, ANY, joint),
    "sub_tensor_": _write("{0}.sub_({1})", lambda x, y: x + y, SIGNED, joint),
    "mul_tensor_": _write("{0}.mul_({1})", lambda x, y: max(x, 2 * x * y), ANY, joint),
    "div_tensor_": _write("{0}.div_({1}.abs() + 1)", lambda x, y: x, NUMBERS, floating),
    "addcmul_": _write("{0}.addcmul_({1}, {1})", lambda x, y: x + y * y, NUMBERS, joint),
    "maximum_": _write("{0}.clamp_(min={1})", max, NUMBERS, joint),
    "copy_": OpSpec("{0}.copy_({1})", "inplace.value", 2, _copy, mutates="value"),
    "lerp_": _write("{0}.lerp_({1}, 0.5)", max, FLOATS, kept, mixed=False),
    "masked_fill_other_": _judge("{0}.masked_fill_({1} > 0, 2)", lambda x, y: max(x, 2.0)),
    "eq_": _judge("{0}.eq_({1})", lambda x, y: max(x, 1.0)),
    "logical_and_": _judge("{0}.logical_and_({1})", lambda x, y: max(x, 1.0)),
    "bitwise_or_": _write("{0}.bitwise_or_({1})", lambda x, y: 2 * max(x, y) + 2, WHOLE, joint),
    # item assignment
    "set_row_one": _store("{0}[{p[0]}] = 1.0", _stores(row, 1.0), places),
    "set_rows_one": _store("{0}[{p[0]}:{p[1]}] = 1.0", _stores(rows, 1.0), slices),
    "set_row": _store("{0}[{p[0]}] = {1}", _stores(row), places),
    "set_rows": _store("{0}[{p[0]}:{p[1]}] = {1}", _stores(rows), slices),
    "iadd_rows": _store("{0}[{p[0]}:{p[1]}] += {1}", _adds(rows), slices),
    "set_all": _store("{0}[...] = {1}", _stores(whole)),
    "set_all_two": _store("{0}[...] = 2.0", _stores(whole, 2.0)),
    "iadd_all": _store("{0}[...] += {1}", _adds(whole)),
    "set_steps": _store("{0}[::2] = {1}", _stores(stepped)),
    "iadd_steps": _store("{0}[::2] += {1}", _adds(stepped)),
    "set_positive": _store("{0}[{0} > 0] = 0.5", _stores(whole, 0.5, FLOATS)),
    "set_index_one": _store("{0}[{p[0]}] = 1.0", _stores(indexed, 1.0), indices),
    "set_index": _store("{0}[{p[0]}] = {1}", _stores(indexed), indices),
    "swap_rows": _store("{0}[[0, 1]] = {0}[[1, 0]]", _swaps),
}

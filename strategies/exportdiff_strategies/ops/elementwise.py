"""Elementwise ops on one or two tensors, or a tensor and a Python number; comparisons, casts, factories."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import (
    ANY,
    FLOATS,
    NUMBERS,
    REAL,
    SIGNED,
    WHOLE,
    Bound,
    Dtypes,
    Result,
    agree,
    always,
    check,
    elementwise,
    floating,
    guided,
    itself,
    joint,
    kept,
    making,
    promoted,
    same,
    truth,
    unit,
    with_int,
)
from exportdiff_strategies.ops.spec import MOST, Operand, OpResult, OpSpec, Params, Rejected, require
from exportdiff_strategies.types import (
    DTYPES,
    Shape,
    TensorType,
    broadcast,
    category,
    dense,
    fresh,
    pointwise,
    promote,
)


def _map(template: str, bound: Bound = same, takes: Dtypes = NUMBERS, result: Result = kept) -> OpSpec:
    return OpSpec(template, "map", 1, elementwise(bound, takes, result))


def _zip(
    template: str,
    bound: Bound,
    takes: Dtypes = NUMBERS,
    result: Result = joint,
    composed: bool = False,
) -> OpSpec:
    return OpSpec(template, "zip", 2, elementwise(bound, takes, result, composed))


def _with_scalar(operands: Sequence[Operand]) -> str:
    return promote(operands[0].type, dense(()))


def _ask(template: str, arity: int, takes: Dtypes = REAL) -> OpSpec:
    return OpSpec(template, "compare", arity, elementwise(unit, takes, truth))


def _int(template: str, bound: Bound, takes: Dtypes = ANY, result: Result = with_int) -> OpSpec:
    return OpSpec(template, "int", 1, elementwise(bound, takes, result), integer=True)


def _float(
    template: str, bound: Bound, takes: Dtypes = ANY, real: str = "finite", result: Result | None = None
) -> OpSpec:
    return OpSpec(template, "float", 1, elementwise(bound, takes, result or promoted(2.0)), real=real)


def _lerp(operands: Sequence[Operand], params: Params) -> OpResult:
    agree(operands)
    return _LERP(operands, params)


_LERP = elementwise(max, FLOATS)


def _cast(operand: Operand, dtype: str) -> OpResult:
    """``x.to(dtype)``: the same tensor if it has the dtype already."""
    kind = operand.type
    if kind.dtype == dtype:
        return itself(operand)
    # Dropping an imaginary part warns.
    require(category(kind.dtype) != "complex")
    found = pointwise((kind,))
    assert found is not None
    return OpResult(TensorType(*found, dtype), 1.0 if dtype == "bool" else operand.bound)


def _to(template: str, dtype: str) -> OpSpec:
    return OpSpec(template, "cast", 1, lambda operands, params: _cast(operands[0], dtype))


def _to_any(operands: Sequence[Operand], params: Params) -> OpResult:
    return _cast(operands[0], str(params[0]))


def _like_other(operands: Sequence[Operand], params: Params) -> OpResult:
    return _cast(operands[0], operands[1].type.dtype)


def _other_dtypes(operands: Sequence[Operand]) -> list[Params]:
    mine = operands[0].type.dtype
    return [(dtype,) for dtype in reversed(DTYPES) if dtype != mine]


def _like(template: str, value: float) -> OpSpec:
    rule = elementwise(lambda x: value, ANY)
    return OpSpec(template, "factory", 1, rule, stops_grad=True)


def _new(template: str, shape: Shape | None, bound: float, dtype: str = "") -> OpSpec:
    """A tensor of this shape or (None) of the shape of the operand; of this dtype or that of the operand."""

    def sizes(kind: TensorType, params: Params) -> Shape:
        return kind.shape if shape is None else shape

    rule = making(sizes, ANY, lambda x: bound, always(dtype) if dtype else kept)
    return OpSpec(template, "factory", 1, rule, stops_grad=True)


def _count(operands: Sequence[Operand], params: Params) -> OpResult:
    kind = operands[0].type
    require(len(kind.shape) > 0)
    return OpResult(TensorType(kind.shape[:1], (1,), "int64"), float(kind.shape[0]))


def _masked_fill(operands: Sequence[Operand], params: Params) -> OpResult:
    first, second = operands
    check((first,), FLOATS)
    check((second,), REAL)
    shape = broadcast(first.type.shape, second.type.shape)
    if shape is None:
        raise Rejected("shapes do not broadcast")
    return OpResult(fresh(shape, first.type.dtype), max(first.bound, 0.5))


TABLE: dict[str, OpSpec] = {
    # one tensor
    "add_one": _map("{0} + 1", lambda x: x + 1, ANY, with_int),
    "double": _map("{0} * 2", lambda x: x * 2, ANY, with_int),
    "halve": _map("{0} / 2", same, ANY, floating),
    "neg": _map("-{0}", same, SIGNED),
    "abs": _map("{0}.abs()"),
    "clone": _map("{0}.clone()", same, ANY),
    "square": _map("{0}.square()", lambda x: x * x),
    "cos": _map("{0}.cos()", unit, REAL, floating),
    "sin": _map("{0}.sin()", unit, REAL, floating),
    "exp": _map("{0}.clamp(max=1).exp()", lambda x: 2.72, NUMBERS, floating),
    "sqrt": _map("({0}.abs() + 1).sqrt()", lambda x: x + 1, NUMBERS, floating),
    "rsqrt": _map("({0}.abs() + 1).rsqrt()", unit, NUMBERS, floating),
    "reciprocal": _map("({0}.abs() + 1).reciprocal()", unit, NUMBERS, floating),
    "log1p": _map("{0}.abs().log1p()", same, NUMBERS, floating),
    "sign": _map("{0}.sign()", unit, REAL),
    "floor": _map("{0}.floor()", lambda x: x + 1),
    "round": _map("{0}.round()", lambda x: x + 1),
    "clamp": _map("{0}.clamp(-1, 1)", unit),
    "clamp_min": _map("{0}.clamp(min=0)"),
    # The same constants as above, but of another type.
    "add_one_float": _map("{0} + 1.0", lambda x: x + 1, ANY, promoted(1.0)),
    "double_float": _map("{0} * 2.0", lambda x: x * 2, ANY, promoted(2.0)),
    "sub_one_float": _map("{0} - 1.0", lambda x: x + 1, SIGNED, promoted(1.0)),
    "power_float": _map("{0} ** 2.0", lambda x: x * x, NUMBERS, promoted(2.0)),
    "add_half": _map("{0} + 0.5", lambda x: x + 0.5, ANY, promoted(0.5)),
    "sub_one": _map("{0} - 1", lambda x: x + 1, SIGNED, with_int),
    "sub_from": _map("1 - {0}", lambda x: x + 1, SIGNED, with_int),
    "mul_half": _map("{0} * 0.5", same, ANY, promoted(0.5)),
    "floor_div": _map("{0} // 2", lambda x: x + 1, REAL, with_int),
    "remainder": _map("{0} % 3", lambda x: 3.0, REAL, with_int),
    "power": _map("{0} ** 2", lambda x: x * x, NUMBERS, with_int),
    "positive_part": _map("torch.where({0} > 0, {0}, 0)", same, REAL, with_int),
    "bitwise_not": _map("~{0}", lambda x: x + 1, WHOLE),
    # two tensors
    "add": _zip("{0} + {1}", lambda x, y: x + y, ANY),
    "sub": _zip("{0} - {1}", lambda x, y: x + y, SIGNED),
    "mul": _zip("{0} * {1}", lambda x, y: 2 * x * y, ANY),
    "div": _zip("{0} / ({1}.abs() + 1)", lambda x, y: x, NUMBERS, floating, composed=True),
    "floor_div_tensor": _zip("{0} // ({1}.abs() + 1)", lambda x, y: x + 1, composed=True),
    "remainder_tensor": _zip("{0} % ({1}.abs() + 1)", lambda x, y: y + 1, composed=True),
    "maximum": _zip("torch.maximum({0}, {1})", max, REAL),
    "minimum": _zip("torch.minimum({0}, {1})", max, REAL),
    "clamp_tensor": _zip("{0}.clamp(max={1})", max),
    "where": _zip("torch.where({0} > 0, {0}, {1})", max, REAL, composed=True),
    "where_above": _zip("torch.where({0} > {1}, {0}, {1})", max, REAL, composed=True),
    "masked_fill": OpSpec("{0}.masked_fill({1} > 0, 0.5)", "zip", 2, guided(_masked_fill)),
    "lerp": OpSpec("torch.lerp({0}, {1}, 0.5)", "zip", 2, _lerp),
    "addcmul": _zip("torch.addcmul({0}, {0}, {1})", lambda x, y: x + x * y, NUMBERS),
    "atan2": _zip("torch.atan2({0}, {1})", lambda x, y: 3.15, REAL, floating),
    "bitwise_and": _zip("{0} & {1}", lambda x, y: 2 * max(x, y) + 2, WHOLE),
    "bitwise_or": _zip("{0} | {1}", lambda x, y: 2 * max(x, y) + 2, WHOLE),
    # a tensor and a Python int
    "add_int": _int("{0} + {1}", lambda x: x + MOST),
    "sub_int": _int("{0} - {1}", lambda x: x + MOST, SIGNED),
    "mul_int": _int("{0} * {1}", lambda x: x * MOST),
    "clamp_int": _int("{0}.clamp(max={1})", lambda x: max(x, MOST), NUMBERS),
    "eq_int": _int("{0} == {1}", unit, ANY, truth),
    "full_int": OpSpec(
        "torch.full_like({0}, {1})", "int", 1, elementwise(lambda x: MOST, ANY), integer=True, stops_grad=True
    ),
    # a tensor and a Python float
    "add_float": _float("{0} + {1}", lambda x: x + 2),
    "mul_float": _float("{0} * {1}", lambda x: x * 2),
    "clamp_float": _float("{0}.clamp(max={1})", lambda x: max(x, 2.0), FLOATS, "limit"),
    "where_float": _float("torch.where({0} > {1}, {0}, 2.0)", lambda x: max(x, 2.0), REAL, "threshold"),
    "gt_float": _float("{0} > {1}", unit, REAL, "threshold", truth),
    # truth values
    "is_positive": _ask("{0} > 0", 1),
    "is_zero": _ask("{0} == 0", 1, ANY),
    "is_nan": _ask("{0}.isnan()", 1, ANY),
    "is_finite": _ask("torch.isfinite({0})", 1, ANY),
    "logical_not": _ask("{0}.logical_not()", 1, ANY),
    "eq": _ask("{0} == {1}", 2, ANY),
    "ne": _ask("{0} != {1}", 2, ANY),
    "lt": _ask("{0} < {1}", 2),
    "gt": _ask("{0} > {1}", 2),
    "ge": _ask("{0} >= {1}", 2),
    "logical_and": _ask("torch.logical_and({0}, {1})", 2, ANY),
    # casts
    "float": _to("{0}.float()", "float32"),
    "to_double": _to("{0}.double()", "float64"),
    "half": _to("{0}.half()", "float16"),
    "bfloat16": _to("{0}.bfloat16()", "bfloat16"),
    "long": _to("{0}.long()", "int64"),
    "int": _to("{0}.int()", "int32"),
    "bool": _to("{0}.bool()", "bool"),
    "to": OpSpec("{0}.to(torch.{p[0]})", "cast", 1, _to_any, _other_dtypes),
    "type_as": OpSpec("{0}.type_as({1})", "cast", 2, guided(_like_other)),
    "to_other": OpSpec("{0}.to({1}.dtype)", "cast", 2, guided(_like_other)),
    # tensors made in the shape of another one
    "zeros_like": _like("torch.zeros_like({0})", 0.0),
    "ones_like": _like("torch.ones_like({0})", 1.0),
    "full_like": _like("torch.full_like({0}, 2)", 2.0),
    "new_zeros": _new("{0}.new_zeros(2, 3)", (2, 3), 0.0),
    "new_full": _new("{0}.new_full({0}.shape, 2)", None, 2.0),
    "zeros": _new("torch.zeros({0}.shape, device={0}.device)", None, 0.0, "float32"),
    "full": _new("torch.full({0}.shape, 0.5, device={0}.device)", None, 0.5, "float32"),
    "constant": _new("torch.tensor([1.0, -2.0], device={0}.device)", (2,), 2.0, "float32"),
    "scalar": _new("torch.tensor(2, device={0}.device)", (), 2.0, "int64"),
    "unit": _new("torch.tensor(1.0, device={0}.device)", (), 1.0, "float32"),
    "eye": _new("torch.eye(2, device={0}.device)", (2, 2), 1.0, "float32"),
    "arange": OpSpec("torch.arange({0}.shape[0], device={0}.device)", "factory", 1, _count, stops_grad=True),
    "add_constant": _map("{0} + torch.tensor(1.0)", lambda x: x + 1, ANY, _with_scalar),
}

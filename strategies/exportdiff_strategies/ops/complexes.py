"""Ops on complex numbers. Bounds are on the real and on the imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import (
    COMPLEX,
    INEXACT,
    Bound,
    always,
    check,
    elementwise,
    same,
    viewing,
)
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, Rejected, require
from exportdiff_strategies.types import TensorType, fresh

SINGLE = frozenset({"float32"})


def _parts(kind: TensorType, params: Params) -> TensorType:
    """``x.real`` and ``x.imag``."""
    stride = None if kind.stride is None else tuple(2 * step for step in kind.stride)
    return TensorType(kind.shape, stride, "float32")


def _as_real(kind: TensorType, params: Params) -> TensorType:
    stride = None if kind.stride is None else (*(2 * step for step in kind.stride), 1)
    return TensorType((*kind.shape, 2), stride, "float32")


def _reinterpreted(kind: TensorType, params: Params) -> TensorType:
    """``x.view(torch.float32)``: the two parts of a number lie next to each other in the last dimension."""
    if not kind.shape or not kind.stride or kind.stride[-1] != 1 or kind.shape[-1] == 0:
        raise Rejected("the last dimension is not in one piece")
    stride = (*(2 * step for step in kind.stride[:-1]), 1)
    return TensorType((*kind.shape[:-1], 2 * kind.shape[-1]), stride, "float32")


def _bits(kind: TensorType, params: Params) -> TensorType:
    return TensorType(kind.shape, kind.stride, "int32")


def _alike(operands: Sequence[Operand], params: Params) -> OpResult:
    require(operands[0].type.dtype == operands[1].type.dtype)
    return _COMBINED(operands, params)


_COMBINED = elementwise(max, SINGLE, always("complex64"))


def _angle(operands: Sequence[Operand], params: Params) -> OpResult:
    check(operands, COMPLEX)
    return OpResult(fresh(operands[0].type.shape), 3.15)


def _complex(template: str, bound: Bound, dtype: str = "complex64") -> OpSpec:
    return OpSpec(template, "complex", 1, elementwise(bound, COMPLEX, always(dtype)))


TABLE: dict[str, OpSpec] = {
    "to_complex": OpSpec(
        "{0}.to(torch.complex64)", "complex", 1, elementwise(same, INEXACT - COMPLEX, always("complex64"))
    ),
    "make_complex": OpSpec("torch.complex({0}, {1})", "complex", 2, _alike),
    "polar": OpSpec("torch.polar({0}, {0})", "complex", 1, elementwise(same, SINGLE, always("complex64"))),
    "conjugate": _complex("torch.conj_physical({0})", same),
    "add_conjugate": _complex("{0} + {0}.conj()", lambda x: 2 * x),
    "times_i": _complex("{0} * 1j", same),
    "complex_abs": _complex("{0}.abs()", lambda x: 1.5 * x, "float32"),
    "angle": OpSpec("{0}.angle()", "complex", 1, _angle),
    "real": OpSpec("{0}.real", "complex", 1, viewing(_parts, COMPLEX)),
    "imag": OpSpec("{0}.imag", "complex", 1, viewing(_parts, COMPLEX)),
    "view_as_real": OpSpec(
        "torch.view_as_real({0})", "complex", 1, viewing(_as_real, COMPLEX), of_memory=True
    ),
    "view_float": OpSpec(
        "{0}.view(torch.float32)",
        "complex",
        1,
        viewing(_reinterpreted, COMPLEX),
        stops_grad=True,
        of_memory=True,
    ),
    "bits": OpSpec(
        "{0}.view(torch.int32)",
        "bits",
        1,
        viewing(_bits, SINGLE),
        stops_grad=True,
        reinterprets=True,
        of_memory=True,
    ),
}

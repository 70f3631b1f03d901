"""Activations and normalisations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from exportdiff_strategies.ops.rules import (
    FLOATS,
    NUMBERS,
    REAL,
    SINGLES,
    Bound,
    Dtypes,
    Result,
    axis,
    check,
    dims,
    elementwise,
    floating,
    kept,
    making,
    same,
    unit,
)
from exportdiff_strategies.ops.spec import Choices, Operand, OpResult, OpSpec, Params, no_params, require
from exportdiff_strategies.types import Shape, TensorType, dense, fresh


def _map(template: str, bound: Bound = same, takes: Dtypes = FLOATS, result: Result = kept) -> OpSpec:
    return OpSpec(template, "activation", 1, elementwise(bound, takes, result))


def _halved(kind: TensorType, params: Params) -> Shape:
    dim = axis(kind, params[0])
    require(kind.shape[dim] % 2 == 0)
    return (*kind.shape[:dim], kind.shape[dim] // 2, *kind.shape[dim + 1 :])


def _even(operands: Sequence[Operand]) -> list[Params]:
    return [(dim,) for dim, size in enumerate(operands[0].type.shape) if size and size % 2 == 0]


def _norm(
    template: str,
    bound: Bound,
    choices: Choices = dims,
    takes: Dtypes = FLOATS,
    rank: int = 1,
    least: int = 1,
    packed: bool = True,
) -> OpSpec:
    """A normalization of at least ``rank`` dimensions and ``least`` elements; ``packed``: the result is
    row-major.

    ``bound`` takes the bound and the number of elements of the operand.
    """

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        kind = first.type
        check(operands, takes)
        require(len(kind.shape) >= rank and kind.numel >= least)
        if params:
            axis(kind, params[0])
        maker = dense if packed or kind.contiguous else fresh
        return OpResult(maker(kind.shape, kind.dtype), bound(first.bound, kind.numel))

    return OpSpec(template, "norm", 1, rule, choices)


def _spread(x: float, count: int) -> float:
    """The bound of standardized values."""
    return math.sqrt(count) + 1


WIDE = SINGLES | {"bfloat16"}
"""The dtypes in which a small epsilon is not zero."""


TABLE: dict[str, OpSpec] = {
    "relu": _map("torch.relu({0})", same, NUMBERS),
    "tanh": _map("torch.tanh({0})", unit, REAL, floating),
    "sigmoid": _map("torch.sigmoid({0})", unit, REAL, floating),
    "gelu": _map("F.gelu({0})"),
    "f_relu": _map("F.relu({0})", same, NUMBERS),
    "silu": _map("F.silu({0})"),
    "elu": _map("F.elu({0})", lambda x: max(x, 1.0)),
    "leaky_relu": _map("F.leaky_relu({0}, 0.1)"),
    "softplus": _map("F.softplus({0})", lambda x: x + 1),
    # Beyond 88, exp is infinite.
    "softplus_of_large": _map("F.softplus({0} * 100)", lambda x: 100 * x + 1),
    "mish": _map("F.mish({0})"),
    "celu_of_large": _map("F.celu({0} * 100)", lambda x: 100 * x + 1),
    # The kernel makes a contiguous result.
    "logsigmoid": _norm("F.logsigmoid({0})", lambda x, n: x + 1, no_params),
    "sinc": _map("torch.sinc({0})", unit),
    "hardtanh": _map("F.hardtanh({0})", unit),
    "glu": OpSpec("F.glu({0}, {p[0]})", "activation", 1, making(_halved, FLOATS, loose=True), _even),
    "softmax": _norm("{0}.softmax({p[0]})", unit),
    "log_softmax": _norm("F.log_softmax({0}, {p[0]})", lambda x, n: 2 * x + n),
    "layer_norm": _norm("F.layer_norm({0}, {0}.shape[-1:])", _spread, no_params),
    "rms_norm": _norm("F.rms_norm({0}, {0}.shape[-1:])", _spread, no_params),
    "normalize": _norm("F.normalize({0}, dim={p[0]})", unit, takes=WIDE, packed=False),
    "group_norm": _norm("F.group_norm({0}, 1)", _spread, no_params, rank=3, least=2),
}

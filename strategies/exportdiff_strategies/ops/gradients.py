"""Ops that only show in gradients: custom autograd functions, and hooks on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import FLOATS, Dtypes, check, elementwise, itself, viewing
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, Rule
from exportdiff_strategies.ops.views import whole


def _function(name: str, rule: Rule, multi: bool = False) -> OpSpec:
    """A custom function; ``multi``: autograd forbids in-place ops on the view that it returns."""
    return OpSpec(name + ".apply({0})", "autograd", 1, rule, multi=multi, preamble=name, untraced=True)


def _map(name: str, bound: Callable[[float], float], takes: Dtypes = FLOATS) -> OpSpec:
    return _function(name, elementwise(bound, takes))


def _unchanged(operands: Sequence[Operand], params: Params) -> OpResult:
    check(operands, FLOATS)
    return itself(operands[0])


TABLE: dict[str, OpSpec] = {
    "straight_through": _map("StraightThrough", lambda x: x + 1),
    "reversed_gradient": _function("ReversedGradient", viewing(whole, FLOATS), multi=True),
    "clipped_gradient": _map("ClippedGradient", lambda x: x * 2),
    "saved_input": _map("SavedInput", lambda x: min(x, 1.0)),
    "gradient_of_square": OpSpec(
        "gradient_of_square({0})",
        "autograd",
        1,
        elementwise(lambda x: 2 * x, FLOATS),
        stops_grad=True,
        preamble="gradient_of_square",
        untraced=True,
    ),
    "gradient_hook": OpSpec(
        "double_gradient({0})", "gradient_hook", 1, _unchanged, preamble="double_gradient", untraced=True
    ),
}

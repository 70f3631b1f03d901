"""``out=`` forms: the target comes first, and has exactly the sizes and dtype of the result."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.activations import TABLE as ACTIVATIONS
from exportdiff_strategies.ops.elementwise import TABLE as ELEMENTWISE
from exportdiff_strategies.ops.matmul import TABLE as MATMUL
from exportdiff_strategies.ops.reductions import TABLE as REDUCTIONS
from exportdiff_strategies.ops.rules import changed, dims, writable
from exportdiff_strategies.ops.shapes import TABLE as SHAPES
from exportdiff_strategies.ops.spec import Choices, Operand, OpResult, OpSpec, Params, no_params, require


def _out(template: str, source: OpSpec, choices: Choices = no_params, distinct: bool = True) -> OpSpec:
    """``source`` is the op without ``out``; ``distinct``: the target may not be an operand too."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        target, given = operands[0], operands[1]
        # Autograd does not support these forms.
        require(not target.grad and not given.grad, "requires grad")
        writable(target, given, distinct=distinct)
        outcome = source.rule([given] * source.arity, params)
        fits = outcome.type.shape == target.type.shape and outcome.type.dtype == target.type.dtype
        require(fits, "the target is of another type")
        return changed(target, max(outcome.bound, target.bound))

    return OpSpec(template, "inplace.out", 2, rule, choices, mutates="value")


def _either(operands: Sequence[Operand]) -> list[Params]:
    """A dimension of an operand that has one dimension more than the target."""
    return [(dim,) for dim in range(len(operands[0].type.shape) + 1)]


TABLE: dict[str, OpSpec] = {
    "add_out": _out("torch.add({1}, 1, out={0})", ELEMENTWISE["add_one"], distinct=False),
    "mul_out": _out("torch.mul({1}, {1}, out={0})", ELEMENTWISE["mul"], distinct=False),
    "tanh_out": _out("torch.tanh({1}, out={0})", ACTIVATIONS["tanh"], distinct=False),
    "gt_out": _out("torch.gt({1}, 0, out={0})", ELEMENTWISE["is_positive"], distinct=False),
    "sum_out": _out("torch.sum({1}, {p[0]}, out={0})", REDUCTIONS["sum_dim"], _either),
    "amax_out": _out("torch.amax({1}, {p[0]}, out={0})", REDUCTIONS["amax"], _either),
    "cumsum_out": _out("torch.cumsum({1}, {p[0]}, out={0})", REDUCTIONS["cumsum"], dims),
    "cat_out": _out("torch.cat([{1}], {p[0]}, out={0})", SHAPES["flip"], dims),
    "matmul_out": _out("torch.matmul({1}, {1}, out={0})", MATMUL["matmul"]),
    "mm_out": _out("torch.mm({1}, {1}, out={0})", MATMUL["mm"]),
}

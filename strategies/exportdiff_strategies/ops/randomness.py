"""Ops that draw random numbers. The harness seeds the generator before every call."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.rules import FLOATS, Bound, changed, check, elementwise, writable
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, Rule, require


def _drawn(template: str, bound: Bound, group: str = "random", preamble: str = "") -> OpSpec:
    """A new tensor, elementwise from the operand and as many random numbers."""
    rule = _not_empty(elementwise(bound, FLOATS, composed=True))
    return OpSpec(template, group, 1, rule, preamble=preamble, untraced=True)


def _not_empty(rule: Rule) -> Rule:
    # Dropout returns an empty tensor itself.
    def found(operands: Sequence[Operand], params: Params) -> OpResult:
        require(operands[0].type.numel > 0)
        return rule(operands, params)

    return found


def _filled(template: str, bound: Bound) -> OpSpec:
    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, FLOATS)
        writable(operands[0])
        require(operands[0].type.numel > 0)
        return changed(operands[0], bound(operands[0].bound))

    return OpSpec(template, "inplace.random", 1, rule, mutates="value", untraced=True)


TABLE: dict[str, OpSpec] = {
    "dropout": _drawn("F.dropout({0}, 0.5)", lambda x: 2 * x),
    "rand_like": _drawn("{0} + torch.rand_like({0})", lambda x: x + 1),
    "randn": _drawn("{0} + torch.randn({0}.shape, dtype={0}.dtype).clamp(-2, 2)", lambda x: x + 2),
    "bernoulli": _drawn("{0} * torch.bernoulli(torch.full_like({0}, 0.5))", lambda x: x),
    "seeded_noise": _drawn("seeded_noise({0})", lambda x: x + 1, "seeded", "seeded_noise"),
    "generator": _drawn("generated_noise({0})", lambda x: x + 1, "seeded", "generated_noise"),
    "uniform_": _filled("{0}.uniform_()", lambda x: max(x, 1.0)),
    "bernoulli_": _filled("{0}.bernoulli_(0.5)", lambda x: max(x, 1.0)),
    "dropout_": _filled("F.dropout({0}, 0.5, inplace=True)", lambda x: 2 * x),
}

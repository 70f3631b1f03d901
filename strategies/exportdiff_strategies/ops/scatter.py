"""Ops that write into their first operand at indices from a tensor.

No index occurs twice: the result would depend on the order of execution.
"""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies.ops.indexing import beginning, picks
from exportdiff_strategies.ops.rules import (
    ANY,
    NUMBERS,
    REAL,
    SIGNED,
    Bound,
    Dtypes,
    agree,
    axis,
    changed,
    check,
    dims,
    integers,
    writable,
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

_RANKS = "{1}.argsort(dim={p[0]}, stable=True)"
"""A permutation along one dimension."""

_FIRST = "torch.arange({1}.shape[{p[0]}], device={0}.device)"
"""The first indices of one dimension, as many as the source has there."""


def _scatters(bound: Bound, takes: Dtypes) -> Rule:
    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        target, source = operands
        check(operands, takes)
        agree(operands)
        writable(target, source, distinct=True)
        axis(target.type, params[0])
        have, want = target.type.shape, source.type.shape
        require(len(have) == len(want) and all(b <= a for a, b in zip(have, want, strict=True)))
        return changed(target, bound(target.bound, source.bound))

    return rule


def _indexes(bound: Bound, takes: Dtypes) -> Rule:
    """A rule for writing the source to the beginning of one dimension."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        target, source = operands
        check(operands, takes)
        agree(operands)
        writable(target, source, distinct=True)
        beginning(target, source, axis(target.type, params[0] if params else 0))
        return changed(target, bound(target.bound, source.bound))

    return rule


def _fills(operands: Sequence[Operand], params: Params) -> OpResult:
    target = operands[0]
    writable(target)
    require(max(integers(params[1])) < target.type.shape[axis(target.type, params[0])])
    return changed(target, max(target.bound, 2.0))


def _ends(operands: Sequence[Operand], params: Params) -> OpResult:
    target = operands[0]
    writable(target)
    require(len(target.type.shape) > 0 and target.type.shape[0] > 1)
    return changed(target, max(target.bound, 2.0))


def _scatter(template: str, rule: Rule, choices: Choices = dims) -> OpSpec:
    arity = 2 if "{1}" in template else 1
    return OpSpec(template, "inplace.scatter", arity, rule, choices, mutates="value")


def _sum(x: float, y: float) -> float:
    return x + y


TABLE: dict[str, OpSpec] = {
    "scatter_": _scatter(f"{{0}}.scatter_({{p[0]}}, {_RANKS}, {{1}})", _scatters(max, REAL)),
    "scatter_add_": _scatter(f"{{0}}.scatter_add_({{p[0]}}, {_RANKS}, {{1}})", _scatters(_sum, NUMBERS)),
    "scatter_reduce_": _scatter(
        f'{{0}}.scatter_reduce_({{p[0]}}, {_RANKS}, {{1}}, "amax")', _scatters(max, NUMBERS)
    ),
    "index_add_": _scatter(f"{{0}}.index_add_({{p[0]}}, {_FIRST}, {{1}})", _indexes(_sum, SIGNED)),
    "index_copy_": _scatter(f"{{0}}.index_copy_({{p[0]}}, {_FIRST}, {{1}})", _indexes(max, ANY)),
    "index_fill_": _scatter(
        "{0}.index_fill_({p[0]}, torch.tensor({p[1]}, device={0}.device), 2)", _fills, picks
    ),
    "index_put_": _scatter(
        "{0}.index_put_((torch.arange({1}.shape[0], device={0}.device),), {1})",
        *(_indexes(max, ANY), no_params),
    ),
    "index_put_accumulate_": _scatter(
        "{0}.index_put_((torch.arange({1}.shape[0], device={0}.device),), {1}, accumulate=True)",
        *(_indexes(_sum, SIGNED), no_params),
    ),
    "set_ends": OpSpec("{0}[[0, -1]] = 2", "inplace.item", 1, _ends, mutates="value", statement=True),
}

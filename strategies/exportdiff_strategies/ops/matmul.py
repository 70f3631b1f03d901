"""Products of matrices and vectors. Operands agree in dtype; not every device multiplies integers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import INEXACT, agree, check
from exportdiff_strategies.ops.spec import Operand, OpResult, OpSpec, Params, Rejected, require
from exportdiff_strategies.types import Shape, broadcast, dense, fresh

Sizes = Callable[[Shape, Shape], tuple[Shape, int]]
"""From two shapes to the shape of the product, and the number of terms in each of its elements."""


def _einsum(equation: str, ones: bool = True) -> Sizes:
    """Return the sizes of a product such as ``ij,jk->ik``; ``ones``: sizes may be 1."""
    first, second, result = re.split(",|->", equation)

    def sizes(left: Shape, right: Shape) -> tuple[Shape, int]:
        require(len(left) == len(first) and len(right) == len(second) and (ones or 1 not in left + right))
        known = dict(zip(first + second, left + right, strict=True))
        require(left + right == tuple(known[letter] for letter in first + second))
        count = math.prod(size for letter, size in known.items() if letter not in result)
        return tuple(known[letter] for letter in result), count

    return sizes


_mm = _einsum("ij,jk->ik")
_bmm = _einsum("bij,bjk->bik")


def _matmul(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) > 0 and len(right) > 0)
    count = left[-1]
    require(count == right[-2 if len(right) > 1 else 0])
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        raise Rejected("batches")
    ends = (*left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return (*batch, *ends), count


def _linear(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) > 0 and len(right) == 2 and left[-1] == right[1])
    return (*left[:-1], right[0]), left[-1]


def _adding(sizes: Sizes, operand: int = 0) -> Sizes:
    """``addmm(x, x, y)``: the operand that is added must have the sizes of the product."""

    def found(left: Shape, right: Shape) -> tuple[Shape, int]:
        shape, count = sizes(left, right)
        require(shape == (left, right)[operand])
        # The added term counts as one more.
        return shape, count + 1

    return found


def _product(template: str, sizes: Sizes, lowers: bool = True, upto: int = 4) -> OpSpec:
    """``upto``: the result is row-major for operands with at most this many dimensions."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, INEXACT)
        dtype = agree(operands)
        first, second = operands
        shape, count = sizes(first.type.shape, second.type.shape)
        parts = 2 if dtype == "complex64" else 1
        bound = max(first.bound * max(second.bound, 1.0) * count * parts, 0.0)
        known = max(len(first.type.shape), len(second.type.shape)) <= upto
        return OpResult((dense if known else fresh)(shape, dtype), bound)

    return OpSpec(template, "matmul", 2, rule, lowers=lowers)


TABLE: dict[str, OpSpec] = {
    "matmul": _product("{0} @ {1}", _matmul, upto=2),
    "mm": _product("torch.mm({0}, {1})", _mm),
    "linear": _product("F.linear({0}, {1})", _linear, upto=2),
    "bmm": _product("torch.bmm({0}, {1})", _bmm),
    "mv": _product("torch.mv({0}, {1})", _einsum("ij,j->i"), lowers=False),
    "dot": _product("torch.dot({0}, {1})", _einsum("i,i->"), lowers=False),
    "outer": _product("torch.outer({0}, {1})", _einsum("i,j->ij"), lowers=False),
    "addmm": _product("torch.addmm({0}, {0}, {1})", _adding(_mm)),
    "addmm_right": _product("torch.addmm({1}, {0}, {1})", _adding(_mm, 1)),
    "addmm_minus": _product("torch.addmm({0}, {0}, {1}, alpha=-1)", _adding(_mm)),
    "baddbmm": _product("torch.baddbmm({0}, {0}, {1})", _adding(_bmm)),
    # For a dimension of size 1, einsum multiplies elementwise, which autocast does not lower.
    "einsum": _product('torch.einsum("ij,kj->ik", {0}, {1})', _einsum("ij,kj->ik", ones=False), upto=0),
    "einsum_columns": _product('torch.einsum("ij,ij->j", {0}, {1})', _einsum("ij,ij->j", ones=False), upto=0),
}

"""Products of matrices and vectors. Operands agree in dtype; not every device multiplies integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exportdiff_strategies.ops.rules import INEXACT, agree, check
from exportdiff_strategies.ops.spec import Operand, OpSpec, Outcome, Params, Rejected, require
from exportdiff_strategies.types import Shape, broadcast, dense, fresh

Sizes = Callable[[Shape, Shape], tuple[Shape, int]]
"""From two shapes to the shape of the product, and the number of terms in each of its elements."""


def _mm(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 2 == len(right) and left[1] == right[0])
    return (left[0], right[1]), left[1]


def _matmul(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) > 0 and len(right) > 0)
    count = left[-1]
    require(count == right[-2 if len(right) > 1 else 0])
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        raise Rejected("batches")
    ends = (*left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    return (*batch, *ends), count


def _bmm(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 3 == len(right) and left[0] == right[0] and left[2] == right[1])
    return (left[0], left[1], right[2]), left[2]


def _mv(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 2 and len(right) == 1 and left[1] == right[0])
    return (left[0],), left[1]


def _dot(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 1 == len(right) and left == right)
    return (), left[0]


def _outer(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 1 == len(right))
    return (left[0], right[0]), 1


def _linear(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) > 0 and len(right) == 2 and left[-1] == right[1])
    return (*left[:-1], right[0]), left[-1]


def _square(sizes: Sizes) -> Sizes:
    """``addmm(x, x, y)``: the added term must have the sizes of the product."""

    def found(left: Shape, right: Shape) -> tuple[Shape, int]:
        shape, count = sizes(left, right)
        require(shape == left)
        # The added term counts as one more.
        return shape, count + 1

    return found


def _ij_kj(left: Shape, right: Shape) -> tuple[Shape, int]:
    # For a dimension of size 1, einsum multiplies elementwise, which autocast does not lower.
    require(len(left) == 2 == len(right) and left[1] == right[1] and 1 not in left + right)
    return (left[0], right[0]), left[1]


def _ij_ij(left: Shape, right: Shape) -> tuple[Shape, int]:
    require(len(left) == 2 and left == right and 1 not in left)
    return (left[1],), left[0]


def _product(template: str, sizes: Sizes, lowers: bool = True, upto: int = 4) -> OpSpec:
    """``upto``: the result is row-major for operands with at most so many dimensions."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        check(operands, INEXACT)
        dtype = agree(operands)
        first, second = operands
        shape, count = sizes(first.type.shape, second.type.shape)
        parts = 2 if dtype == "complex64" else 1
        bound = max(first.bound * max(second.bound, 1.0) * count * parts, 0.0)
        known = max(len(first.type.shape), len(second.type.shape)) <= upto
        return Outcome((dense if known else fresh)(shape, dtype), bound)

    return OpSpec(template, "matmul", 2, rule, lowers=lowers)


TABLE: dict[str, OpSpec] = {
    "matmul": _product("{0} @ {1}", _matmul, upto=2),
    "mm": _product("torch.mm({0}, {1})", _mm),
    "linear": _product("F.linear({0}, {1})", _linear, upto=2),
    "bmm": _product("torch.bmm({0}, {1})", _bmm),
    "mv": _product("torch.mv({0}, {1})", _mv, lowers=False),
    "dot": _product("torch.dot({0}, {1})", _dot, lowers=False),
    "outer": _product("torch.outer({0}, {1})", _outer, lowers=False),
    "addmm": _product("torch.addmm({0}, {0}, {1})", _square(_mm)),
    "baddbmm": _product("torch.baddbmm({0}, {0}, {1})", _square(_bmm)),
    "einsum": _product('torch.einsum("ij,kj->ik", {0}, {1})', _ij_kj, upto=0),
    "einsum_columns": _product('torch.einsum("ij,ij->j", {0}, {1})', _ij_ij, upto=0),
}

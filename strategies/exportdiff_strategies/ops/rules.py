"""Building blocks of type rules: allowed dtypes, result dtypes, and functions that make rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from exportdiff_strategies import program as ir
from exportdiff_strategies.ops.spec import Operand, OpResult, Params, Rejected, Rule, forbid, require
from exportdiff_strategies.types import (
    DTYPES,
    UNSETTLED,
    Shape,
    TensorType,
    broadcast,
    castable,
    dense,
    fresh,
    pointwise,
    promote,
)

Bound = Callable[..., float]
"""From the bounds of the operands to that of the result; for complex numbers, of both parts."""

Dtypes = frozenset[str]

ANY: Dtypes = frozenset(DTYPES)
BOOL: Dtypes = frozenset({"bool"})
INTS: Dtypes = frozenset({"int32", "int64"})
HALVES: Dtypes = frozenset({"float16", "bfloat16"})
SINGLES: Dtypes = frozenset({"float32", "float64"})
COMPLEX: Dtypes = frozenset({"complex64"})
FLOATS = HALVES | SINGLES
WHOLE = INTS | BOOL
NUMBERS = INTS | FLOATS
REAL = NUMBERS | BOOL
SIGNED = NUMBERS | COMPLEX
INEXACT = FLOATS | COMPLEX

LARGEST = 8
"""No dimension becomes larger than this by joining or repeating."""

RANK = 4
"""No view has more dimensions."""

# --- bounds ---------------------------------------------------------------------------------------------


def same(x: float) -> float:
    """The bound of an op that increases no value."""
    return x


def unit(*_bounds: float) -> float:
    """The bound of values between -1 and 1, such as truth values."""
    return 1.0


# --- result dtypes --------------------------------------------------------------------------------------

Result = Callable[[Sequence[Operand]], str]


def kept(operands: Sequence[Operand]) -> str:
    """The dtype of the first operand."""
    return operands[0].type.dtype


def always(dtype: str) -> Result:
    """Always this dtype."""
    return lambda operands: dtype


truth = always("bool")
whole = always("int64")


def promoted(*numbers: complex) -> Result:
    """The dtype that the operands and these Python numbers promote to."""

    def result(operands: Sequence[Operand]) -> str:
        if len(operands) == 1 and not numbers:
            return operands[0].type.dtype
        dtype = promote(*(o.type for o in operands), *numbers)
        require(dtype != UNSETTLED, "releases of torch give it different dtypes")
        return dtype

    return result


joint = promoted()
with_int = promoted(1)
floating = promoted(0.5)
"""Like ``joint``, but integers become floats."""


def summed(operands: Sequence[Operand]) -> str:
    """The dtype of a sum."""
    dtype = operands[0].type.dtype
    return "int64" if dtype in WHOLE else dtype


# --- what fits ------------------------------------------------------------------------------------------


def check(operands: Sequence[Operand], takes: Dtypes) -> None:
    """Raise Rejected for an operand of another dtype."""
    for operand in operands:
        require(operand.type.dtype in takes, "dtype")


def agree(operands: Sequence[Operand]) -> str:
    """The dtype of all operands. Raises Rejected if they differ."""
    dtype = operands[0].type.dtype
    for operand in operands[1:]:
        require(operand.type.dtype == dtype, "dtypes differ")
    return dtype


def integer(value: ir.Literal) -> int:
    """A constant that is an int."""
    assert isinstance(value, int)
    return value


def integers(value: ir.Literal) -> Shape:
    """A constant that is a tuple of ints."""
    assert isinstance(value, tuple)
    return cast(Shape, value)


def axis(kind: TensorType, value: ir.Literal) -> int:
    """A constant that is a dimension of the tensor."""
    dim = integer(value)
    forbid(dim >= len(kind.shape), "dimension out of range")
    return dim


def fitting(part: Shape, value: Shape) -> None:
    """Raise Rejected unless ``value`` broadcasts to ``part``, which it is written to."""
    forbid(part != value and broadcast(part, value) != part, "value does not fit")


def guided(rule: Rule) -> Rule:
    """Make a rule for ops that only read truths or sizes of the second operand, which gets no gradient."""

    def found(operands: Sequence[Operand], params: Params) -> OpResult:
        first, second = operands
        forbid(second.grad and not first.grad, "the second operand would get no gradient")
        return rule(operands, params)

    return found


def writable(target: Operand, *sources: Operand, distinct: bool = False) -> None:
    """Raise Rejected for a target with overlapping memory or, if ``distinct``, one that is also a source."""
    forbid(target.type.overlaps, "overlapping memory")
    forbid(distinct and any(source is target for source in sources), "source is target")


# --- makers of rules ------------------------------------------------------------------------------------


def elementwise(bound: Bound, takes: Dtypes = NUMBERS, result: Result = kept, composed: bool = False) -> Rule:
    """A rule for a new tensor, elementwise with broadcasting.

    ``composed``: the op consists of several, of which the later ones read results with another memory layout.
    """

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, takes)
        dtype = result(operands)
        require(dtype in ANY, "dtype")
        # A comparison computes in what its operands promote to.
        found = pointwise(tuple([operand.type for operand in operands]), "" if dtype == "bool" else dtype)
        if found is None:
            raise Rejected("shapes do not broadcast")
        kind = TensorType(*found, dtype)
        if composed and not all(operand.type.packed for operand in operands):
            kind = fresh(kind.shape, dtype)
        return OpResult(kind, bound(*[operand.bound for operand in operands]))

    return rule


def writes(
    bound: Bound,
    takes: Dtypes = NUMBERS,
    result: Result = kept,
    mixed: bool = True,
) -> Rule:
    """Make a rule for writing values into the first operand, to which the others broadcast."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        check(operands, takes)
        target = operands[0].type
        writable(operands[0])
        for operand in operands[1:]:
            fitting(target.shape, operand.type.shape)
            forbid(not mixed and operand.type.dtype != target.dtype, "dtypes differ")
        require(castable(result(operands), target.dtype), "result does not fit the target's dtype")
        return changed(operands[0], bound(*[operand.bound for operand in operands]))

    return rule


def changed(target: Operand, bound: float) -> OpResult:
    """The outcome of an in-place op: the target itself, with other values."""
    return OpResult(target.type, bound, alias=True, same=True)


def itself(operand: Operand) -> OpResult:
    """The outcome of an op that returns its operand."""
    return changed(operand, operand.bound)


Change = Callable[[TensorType, Params], TensorType]
Shaper = Callable[[TensorType, Params], Shape]


def viewing(change: Change, takes: Dtypes = ANY) -> Rule:
    """A rule for a view of the first operand."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        check((first,), takes)
        return OpResult(change(first.type, params), first.bound, alias=True)

    return rule


def turning(change: Change) -> Rule:
    """Changes the first operand's sizes and strides in place."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        return OpResult(change(first.type, params), first.bound, alias=True, same=True)

    return rule


def making(
    shape: Shaper,
    takes: Dtypes = ANY,
    bound: Bound = same,
    result: Result = kept,
    loose: bool = False,
) -> Rule:
    """A rule for a new row-major tensor of other sizes; ``loose``: row-major only if the operand is."""

    def rule(operands: Sequence[Operand], params: Params) -> OpResult:
        first = operands[0]
        check((first,), takes)
        sizes = shape(first.type, params)
        maker = fresh if loose and not first.type.contiguous else dense
        return OpResult(maker(sizes, result(operands)), bound(first.bound))

    return rule


# --- choices of constants, simplest first ---------------------------------------------------------------


def dims(operands: Sequence[Operand]) -> list[Params]:
    """Every dimension."""
    return [(dim,) for dim in range(len(operands[0].type.shape))]


def singles(operands: Sequence[Operand]) -> list[Params]:
    """Every dimension of size 1."""
    return [(dim,) for dim, size in enumerate(operands[0].type.shape) if size == 1]


def gaps(operands: Sequence[Operand]) -> list[Params]:
    """Every position for a new dimension."""
    return [(dim,) for dim in range(len(operands[0].type.shape) + 1)]


def pairs(operands: Sequence[Operand]) -> list[Params]:
    """Every pair of dimensions."""
    rank = len(operands[0].type.shape)
    return [(a, b) for a in range(rank) for b in range(a + 1, rank)]


def places(operands: Sequence[Operand]) -> list[Params]:
    """Every index of the first dimension."""
    shape = operands[0].type.shape
    return [(index,) for index in range(shape[0])] if shape else []


def slices(operands: Sequence[Operand]) -> list[Params]:
    """Every non-empty slice of the first dimension."""
    shape = operands[0].type.shape
    if not shape:
        return []
    return [(a, b) for a in range(shape[0]) for b in range(a + 1, shape[0] + 1)]

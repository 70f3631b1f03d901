"""What type rules are made of: dtypes that fit, result dtypes, and makers of rules by kind of op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from strategies.ops.spec import Operand, Outcome, Params, Rejected, Rule
from strategies.program import Literal
from strategies.types import (
    DTYPES,
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
"""From bounds on the operands' absolute values to one on the result's (of complex numbers: on each part)."""

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
"""No dimension gets longer than this by joining or repeating."""

# --- bounds ---------------------------------------------------------------------------------------------


def same(x: float) -> float:
    """The bound of an op that makes nothing larger."""
    return x


def unit(*bounds: float) -> float:
    """The bound of what lies between -1 and 1, truth values among them."""
    return 1.0


# --- result dtypes --------------------------------------------------------------------------------------

Result = Callable[[Sequence[Operand]], str]


def kept(operands: Sequence[Operand]) -> str:
    """The first operand's dtype."""
    return operands[0].type.dtype


def always(dtype: str) -> Result:
    """One dtype, whatever the operands."""
    return lambda operands: dtype


truth = always("bool")
whole = always("int64")


def promoted(*numbers: complex) -> Result:
    """What the operands' dtypes and these Python numbers promote to."""

    def result(operands: Sequence[Operand]) -> str:
        if len(operands) == 1 and not numbers:
            return operands[0].type.dtype
        return promote(*(o.type for o in operands), *numbers)

    return result


joint = promoted()
with_int = promoted(1)
floating = promoted(0.5)
"""Integers become floats."""


def summed(operands: Sequence[Operand]) -> str:
    """What a sum is kept in."""
    dtype = operands[0].type.dtype
    return "int64" if dtype in WHOLE else dtype


# --- what fits ------------------------------------------------------------------------------------------


def require(fits: bool | None, why: str = "does not fit") -> None:
    """Reject what does not fit, and what is not known to."""
    if not fits:
        raise Rejected(why)


def check(operands: Sequence[Operand], takes: Dtypes) -> None:
    """Reject an operand of another dtype."""
    for operand in operands:
        if operand.type.dtype not in takes:
            raise Rejected("dtype")


def agree(operands: Sequence[Operand]) -> str:
    """The one dtype of all operands."""
    dtype = operands[0].type.dtype
    for operand in operands[1:]:
        if operand.type.dtype != dtype:
            raise Rejected("dtypes differ")
    return dtype


def integer(value: Literal) -> int:
    """A constant that is an int."""
    assert isinstance(value, int)
    return value


def integers(value: Literal) -> Shape:
    """A constant that is a tuple of ints."""
    assert isinstance(value, tuple)
    return cast(Shape, value)


def axis(kind: TensorType, value: Literal) -> int:
    """A constant that is a dimension of the tensor."""
    dim = integer(value)
    if dim >= len(kind.shape):
        raise Rejected("dimension out of range")
    return dim


def fitting(part: Shape, value: Shape) -> None:
    """Reject a value that does not broadcast to the part that it is written to."""
    if part != value and broadcast(part, value) != part:
        raise Rejected("value does not fit")


def guided(rule: Rule) -> Rule:
    """For ops whose second operand is only looked at: no gradient comes through it."""

    def found(operands: Sequence[Operand], params: Params) -> Outcome:
        first, second = operands
        if second.grad and not first.grad:
            raise Rejected("requires grad in vain")
        return rule(operands, params)

    return found


def writable(target: Operand, *sources: Operand, apart: bool = False) -> None:
    """Reject an in-place target in overlapping memory, and (``apart``) one that is its own source."""
    if target.type.overlaps:
        raise Rejected("overlapping memory")
    if apart and any(source is target for source in sources):
        raise Rejected("source is target")


# --- makers of rules ------------------------------------------------------------------------------------


def elementwise(bound: Bound, takes: Dtypes = NUMBERS, result: Result = kept, composed: bool = False) -> Rule:
    """A new tensor, elementwise with broadcasting.

    ``composed``: of several ops, so that some see an operand as an earlier one laid it out anew.
    """

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        check(operands, takes)
        dtype = result(operands)
        if dtype not in ANY:
            raise Rejected("dtype")
        # A comparison computes in what its operands promote to.
        found = pointwise(tuple([operand.type for operand in operands]), "" if dtype == "bool" else dtype)
        if found is None:
            raise Rejected("shapes do not broadcast")
        kind = TensorType(*found, dtype)
        if composed and not all(operand.type.packed for operand in operands):
            kind = fresh(kind.shape, dtype)
        return Outcome(kind, bound(*[operand.bound for operand in operands]))

    return rule


def writes(
    bound: Bound,
    takes: Dtypes = NUMBERS,
    result: Result = kept,
    mixed: bool = True,
) -> Rule:
    """Writes values into the first operand, which the others must broadcast to; ``result`` as if fresh."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        check(operands, takes)
        target = operands[0].type
        writable(operands[0])
        for operand in operands[1:]:
            fitting(target.shape, operand.type.shape)
            if not mixed and operand.type.dtype != target.dtype:
                raise Rejected("dtypes differ")
        if not castable(result(operands), target.dtype):
            raise Rejected("result does not fit the target's dtype")
        return changed(operands[0], bound(*[operand.bound for operand in operands]))

    return rule


def changed(target: Operand, bound: float) -> Outcome:
    """An in-place op's outcome: the target itself, with other values."""
    return Outcome(target.type, bound, alias=True, same=True)


Change = Callable[[TensorType, Params], TensorType]
Shaper = Callable[[TensorType, Params], Shape]


def viewing(change: Change, takes: Dtypes = ANY) -> Rule:
    """A view of the first operand."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        first = operands[0]
        check((first,), takes)
        return Outcome(change(first.type, params), first.bound, alias=True)

    return rule


def turning(change: Change) -> Rule:
    """Changes the first operand's sizes and strides in place."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        first = operands[0]
        return Outcome(change(first.type, params), first.bound, alias=True, same=True)

    return rule


def making(
    shape: Shaper,
    takes: Dtypes = ANY,
    bound: Bound = same,
    result: Result = kept,
    loose: bool = False,
) -> Rule:
    """A new row-major tensor of other sizes; ``loose``: row-major only if the operand is."""

    def rule(operands: Sequence[Operand], params: Params) -> Outcome:
        first = operands[0]
        check((first,), takes)
        sizes = shape(first.type, params)
        maker = fresh if loose and not first.type.contiguous else dense
        return Outcome(maker(sizes, result(operands)), bound(first.bound))

    return rule


def itself(operand: Operand) -> Outcome:
    """The operand, unchanged."""
    return Outcome(operand.type, operand.bound, alias=True, same=True)


# --- choices of constants, simplest first ---------------------------------------------------------------


def dims(operands: Sequence[Operand]) -> list[Params]:
    """Every dimension."""
    return [(dim,) for dim in range(len(operands[0].type.shape))]


def singles(operands: Sequence[Operand]) -> list[Params]:
    """Every dimension of size 1."""
    return [(dim,) for dim, size in enumerate(operands[0].type.shape) if size == 1]


def gaps(operands: Sequence[Operand]) -> list[Params]:
    """Every place for a new dimension."""
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

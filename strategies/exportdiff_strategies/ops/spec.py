"""An entry of the op table: its text, its type rule, its constants, and what it changes.

A rule is a pure function from operands and constants to an Outcome. It raises Rejected if eager would raise,
if the size of the result would depend on data, or if values could become too large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import isnan
from typing import Protocol

from hypothesis import strategies as st

from exportdiff_strategies import program as ir
from exportdiff_strategies.types import TensorType

LIMIT = 1e4
"""The largest absolute value: far from overflow, and small enough for ``tanh`` to distinguish values."""

MOST = 8
"""The largest Python number that is an operand; the number of elements of a small tensor is not larger."""

REALS: dict[str, Callable[[float], bool]] = {
    "finite": lambda number: abs(number) <= 2.0,
    "limit": lambda number: not isnan(number),
    "threshold": lambda number: True,
}
"""Kind of float operand -> whether a float is allowed: small values, limits, thresholds to compare with."""


class Rejected(Exception):  # noqa: N818 - not an error: the answer "this does not fit here"
    """The op or call does not fit these operands."""


def require(fits: object, why: str = "does not fit") -> None:
    """Raise Rejected unless ``fits`` is true; None says that it is not known."""
    if not fits:
        raise Rejected(why)


def forbid(found: object, why: str) -> None:
    """Raise Rejected if ``found`` is true."""
    if found:
        raise Rejected(why)


class Operand(Protocol):
    """The part of a tensor that a rule reads."""

    @property
    def type(self) -> TensorType:
        """Sizes, strides and dtype."""
        ...

    @property
    def bound(self) -> float:
        """No absolute value exceeds this."""
        ...

    @property
    def grad(self) -> bool:
        """Whether it requires grad."""
        ...

    @property
    def lazy(self) -> bool:
        """Whether the memory holds other values, of which it is the conjugate or the negative."""
        ...


@dataclass(frozen=True, slots=True)
class OpResult:
    """The result of an op, or the new type and bound of the first operand of an in-place op.

    ``alias``: the result shares the storage of the first operand; ``same``: the result is the first operand.
    ``adopts``: the in-place op gives its first operand the storage of the operand with this number
    (``set_``).
    """

    type: TensorType
    bound: float
    alias: bool = False
    same: bool = False
    adopts: int | None = None


Params = tuple[ir.Literal, ...]
"""The constants of an op."""
Rule = Callable[[Sequence[Operand], Params], OpResult]
"""From operands and constants to the outcome. Raises Rejected."""
Choices = Callable[[Sequence[Operand]], "list[Params] | st.SearchStrategy[Params]"]
"""The constants that may fit the operands, simplest first, or a strategy for them."""


def no_params(operands: Sequence[Operand]) -> list[Params]:
    """The op has no constants."""
    return [()]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One entry of the table.

    ``template`` is a format string over the operands and, as ``p``, the constants. ``choices`` gives the
    constants that may fit the first operand. ``mutates`` is "", "value" or "metadata", and always concerns
    the first operand (an ``out=`` form has its target first). ``integer``: the last operand is a Python int;
    ``real``: it is a Python float, of a kind of REALS. ``statement``: the op is a statement without a result.
    ``stops_grad``: the result never requires grad; ``starts_grad``: it does. ``multi``: the result is one of
    several views, which autograd forbids to write to. ``preamble`` is a key of PREAMBLES: a definition that
    the source needs. ``lowers``: autocast runs the op in its lower precision. ``untraced``: Dynamo, which
    captures the local functions of control-flow operators even in eager, need not take it. ``reinterprets``:
    the result is the memory of the operand as another dtype, and may be any number. ``of_memory``: it reads
    or exchanges the memory itself, which a lazy conjugate or negative does not allow.
    """

    template: str
    group: str
    arity: int
    rule: Rule
    choices: Choices = no_params
    mutates: str = ""
    integer: bool = False
    real: str = ""
    statement: bool = False
    stops_grad: bool = False
    starts_grad: bool = False
    multi: bool = False
    preamble: str = ""
    lowers: bool = False
    untraced: bool = False
    reinterprets: bool = False
    of_memory: bool = False

    @property
    def infix(self) -> bool:
        """Whether the text needs parentheses as an operand."""
        return _infix(self.template)


@cache
def _infix(template: str) -> bool:
    depth = 0
    for char in template:
        depth += (char in "([") - (char in ")]")
        if char == " " and not depth:
            return True
    return template[0] in "-~"

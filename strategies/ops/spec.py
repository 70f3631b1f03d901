"""What an entry of the op table is: its text, its type rule, the constants it takes, what it changes.

A rule is a pure function from operands and constants to an Outcome; it raises Rejected where eager would
raise, where the result's size depends on data, or where values could leave the tame range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import isnan
from typing import Protocol

from hypothesis import strategies as st

from strategies.program import Literal
from strategies.types import TensorType

LIMIT = 1e4
"""No absolute value may exceed this: far from overflow, and close enough to zero for tanh to notice."""

MOST = 8
"""No Python number that is an operand is larger: the number of elements of a small tensor is not."""

REALS: dict[str, Callable[[float], bool]] = {
    "finite": lambda number: abs(number) <= 2.0,
    "limit": lambda number: not isnan(number),
    "threshold": lambda number: True,
}
"""The floats that an op takes: tame ones, those that values may be held to, those to compare with."""


class Rejected(Exception):  # noqa: N818 - not an error: the answer "this does not fit here"
    """The op or call does not fit these operands."""


class Operand(Protocol):
    """What a rule sees of a tensor."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an op gives, or (in-place ops) what its first operand becomes.

    ``alias``: the result shares the first operand's storage; ``same``: it is that very object.
    ``adopts``: an in-place op that puts its first operand onto that operand's storage (``set_``).
    """

    type: TensorType
    bound: float
    alias: bool = False
    same: bool = False
    adopts: int | None = None


Params = tuple[Literal, ...]
Rule = Callable[[Sequence[Operand], Params], Outcome]
Choices = Callable[[Sequence[Operand]], "list[Params] | st.SearchStrategy[Params]"]


def no_params(operands: Sequence[Operand]) -> list[Params]:
    """No constants to choose."""
    return [()]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One entry of the table.

    ``template`` is a format string over the operands' texts and, as ``p``, the params. ``choices`` lists the
    constants that may fit the first operand, simplest first, or gives a strategy for them. ``mutates`` is
    "", "value" or "metadata", always of the first operand (an ``out=`` form has its target first).
    ``integer`` says that the last operand is a Python int, ``real`` that it is a Python float, of REALS;
    ``statement`` that the op is a statement and has
    no result; ``stops_grad`` that the result never requires grad, ``starts_grad`` that it does; ``multi``
    that the result is one of several views, which autograd does not let anyone write to; ``preamble`` names
    what the source must define first (``strategies.regions``); ``lowers`` that autocast runs the op in its
    lower precision.
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

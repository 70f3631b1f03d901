"""The statements of a method's body."""

from __future__ import annotations

from dataclasses import dataclass

from exportdiff_strategies.program.expressions import Cond, Expr, Var
from exportdiff_strategies.program.literals import AttributePath


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``."""

    target: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Do:
    """An expression statement: an in-place op, or a call that drops its result."""

    value: Expr


@dataclass(frozen=True, slots=True)
class SetAttr:
    """``self.<path> = value``: rebinds a buffer or attribute, or creates an attribute."""

    path: AttributePath
    value: Expr


@dataclass(frozen=True, slots=True)
class Swap:
    """``self.<first>, self.<second> = self.<second>, self.<first>``."""

    first: AttributePath
    second: AttributePath


@dataclass(frozen=True, slots=True)
class Increment:
    """``self.<path> += 1`` on a Python int."""

    path: AttributePath


@dataclass(frozen=True, slots=True)
class If:
    """``if test: then`` with an optional ``else``; ``match`` renders a test for equality as a ``match``."""

    test: Cond
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    match: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """``for layer in self.<container>: target = layer(target, *args)``.

    ``style`` is "" or "enumerate" for a list or Sequential, "values" or "items" for a ModuleDict.
    """

    container: AttributePath
    target: str
    args: tuple[Expr, ...] = ()
    style: str = ""


@dataclass(frozen=True, slots=True)
class Repeat:
    """``for var in range(count): body``, or, with style "while", the same loop on a Python counter."""

    var: str
    count: Expr
    body: tuple[Stmt, ...]
    style: str = "for"


@dataclass(frozen=True, slots=True)
class With:
    """``with <region>: body``; ``region`` is a key of REGIONS.

    If it is all of a method, ``decorator`` writes it as a decorator of the method.
    """

    region: str
    body: tuple[Stmt, ...]
    decorator: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """A statement that raises; ``name`` is a key of FAILURES, ``subject`` the tensor that it reads."""

    name: str
    subject: Expr


@dataclass(frozen=True, slots=True)
class Try:
    """``try: body`` with ``except error: handler``."""

    body: tuple[Stmt, ...]
    error: str
    handler: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A local function that a control-flow operator takes."""

    name: str
    args: tuple[str, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """``target = <control-flow operator>``, a key of CONTROLS, with its local functions."""

    name: str
    target: str
    operands: tuple[Expr, ...]
    functions: tuple[LocalFunction, ...]


@dataclass(frozen=True, slots=True)
class UseIdiom:
    """The body of idiom ``number`` of a kind (a key of KINDS): it reads ``operand`` and binds ``target``."""

    kind: str
    number: int
    target: str
    operand: Var


@dataclass(frozen=True, slots=True)
class Return:
    """``return value``."""

    value: Expr


Stmt = (
    Assign
    | Do
    | SetAttr
    | Swap
    | Increment
    | If
    | Loop
    | Repeat
    | With
    | Fail
    | Try
    | Control
    | UseIdiom
    | Return
)

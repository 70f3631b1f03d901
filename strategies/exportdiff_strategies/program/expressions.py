"""The expressions of a method's body."""

from __future__ import annotations

from dataclasses import dataclass

from exportdiff_strategies.program.literals import AttributePath, Literal


@dataclass(frozen=True, slots=True)
class Lit:
    """A Python constant."""

    value: Literal


@dataclass(frozen=True, slots=True)
class Var:
    """A local variable or an argument of the method."""

    name: str


@dataclass(frozen=True, slots=True)
class Not:
    """``not flag``."""

    flag: Var


@dataclass(frozen=True, slots=True)
class Attr:
    """A tensor or Python value that is an attribute of ``self`` or of a submodule."""

    path: AttributePath


@dataclass(frozen=True, slots=True)
class Op:
    """An entry of the op table applied to operands, with its constants in ``params``."""

    name: str
    operands: tuple[Expr, ...]
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """A Python int read from the metadata of a tensor, such as ``x.shape[0]``; an entry of MEASURES."""

    name: str
    subject: Expr


@dataclass(frozen=True, slots=True)
class Star:
    """``*rest`` or, if ``double``, ``**options`` as an argument of a call."""

    value: Var
    double: bool = False


@dataclass(frozen=True, slots=True)
class CallModule:
    """A call of the submodule at ``callee``, or of its ``method``; the empty path is ``self``.

    ``form`` is a key of FORMS.
    """

    callee: AttributePath
    args: tuple[Expr | Star, ...]
    kwargs: tuple[tuple[str, Expr], ...] = ()
    method: str = ""
    form: str = ""


FORMS: dict[str, str] = {
    "": "{0}({args})",
    "first": "{0}({args})[0]",
    "tokens": "{0}(torch.remainder({args}, 3))",
    "self_attention": "{0}({args}, {args}, {args})[0]",
    "packed": "packed({0}, {args})",
    "checkpoint": "checkpoint({0}, {args}, use_reentrant=False)",
}
"""Form -> how a call is written, as a format string over the callee and the arguments."""


@dataclass(frozen=True, slots=True)
class CallVariable:
    """A call of a function or module that a variable holds."""

    function: Var
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ModuleOrMethod:
    """The submodule at ``path`` as a value, or its bound method ``method``."""

    path: AttributePath
    method: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of torch as a value; ``name`` is a key of FUNCTIONS."""

    name: str


FUNCTIONS: dict[str, str] = {"relu": "torch.relu", "neg": "torch.neg", "tanh": "torch.tanh"}
"""Name of an op -> how its function is written when it is passed as a value."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A container of values; ``kind`` is tuple, list, dict, named (a namedtuple) or data (a dataclass).

    ``keys`` are the keys of a dict, or the names of the items of a namedtuple or dataclass.
    """

    kind: str
    items: tuple[Expr, ...]
    keys: tuple[Literal, ...] = ()


FIELDS = ("left", "right")
"""The default field names of namedtuples and dataclasses."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a container: ``base[key]`` or, if ``dotted``, ``base.key``."""

    base: Var
    key: Literal
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Results:
    """An op that returns a named tuple of torch, as ``x.max(0)`` does; ``name`` is a key of RESULTS."""

    name: str
    operand: Expr
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Ternary:
    """``then if test else orelse``."""

    test: Cond
    then: Expr
    orelse: Expr


Expr = (
    Lit
    | Var
    | Not
    | Attr
    | Op
    | Measure
    | CallModule
    | CallVariable
    | ModuleOrMethod
    | Function
    | Collection
    | Item
    | Results
    | Ternary
)


@dataclass(frozen=True, slots=True)
class Cond:
    """A condition.

    Without a subject, ``name`` is a key of MODES; with an ``other``, of RELATIONS; else of CONDS.
    """

    name: str
    subject: Expr | None = None
    params: tuple[Literal, ...] = ()
    other: Expr | None = None

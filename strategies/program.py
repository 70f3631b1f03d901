"""The Program: an immutable description of a random model. Plain data, no torch objects.

A Program holds its classes bottom-up (a class uses only earlier ones, the root class ``Model`` is last),
the arguments that the model is called with, and its training flag. ``render`` turns it into source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from strategies.types import Shape

Literal = bool | int | float | str | None | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A step of a Path into an ``nn.ModuleDict``."""

    name: str


Step = str | int | Key
Path = tuple[Step, ...]
"""The way from ``self`` to a submodule or tensor: ``("layers", 0, "w")`` is ``self.layers[0].w``."""


# --- expressions -------------------------------------------------------------------------------


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
    """A tensor that hangs on ``self`` or on a submodule."""

    path: Path


@dataclass(frozen=True, slots=True)
class Op:
    """An entry of the op table applied to operands, with its constants in ``params``."""

    name: str
    operands: tuple[Expr, ...]
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the submodule at ``callee``."""

    callee: Path
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple (``keys`` is empty), or a dict."""

    items: tuple[Expr, ...]
    keys: tuple[str, ...] = ()


Expr = Lit | Var | Not | Attr | Op | Call | Group


@dataclass(frozen=True, slots=True)
class Cond:
    """An entry of the condition table applied to a subject."""

    name: str
    subject: Expr | None = None
    params: tuple[Literal, ...] = ()


# --- statements --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``."""

    target: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Do:
    """An expression for its effect alone: an in-place op, a call whose result is dropped."""

    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    """``if test: then`` with an optional ``else``."""

    test: Cond
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """``for layer in self.<container>: target = layer(target, *args)``."""

    container: Path
    target: str
    args: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """``return value``."""

    value: Expr


Stmt = Assign | Do | If | Loop | Return


# --- construction ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fill:
    """A float32 tensor's shape and values: all ``low`` where ``high`` is None, else evenly spaced."""

    shape: Shape
    low: float = 1.0
    high: float | None = None


@dataclass(frozen=True, slots=True)
class New:
    """A fresh instance of a class of the Program, or (``layer``) of an entry of the layer table.

    ``scale`` multiplies the initial values of the instance's own tensors: two instances of one class that
    hold the same values cannot be told apart when one is run for the other.
    """

    name: str
    params: tuple[int, ...] = ()
    layer: bool = False
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Child:
    """``self.<attr> = <New>``."""

    attr: str
    new: New


@dataclass(frozen=True, slots=True)
class Bind:
    """``self.<target> = self.<source>``: shares a module or ties a tensor, at any depth."""

    target: Path
    source: Path


@dataclass(frozen=True, slots=True)
class Container:
    """A ``ModuleList``, ``Sequential`` or ``ModuleDict`` of fresh and of existing (Path) modules."""

    attr: str
    kind: str
    items: tuple[New | Path, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor attribute; ``kind`` is parameter, buffer, scratch (a non-persistent buffer) or constant."""

    attr: str
    kind: str
    fill: Fill


Init = Child | Bind | Container | Tensor


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of ``forward``; ``kind`` is tensor, optional, bool, int or str."""

    name: str
    kind: str
    default: Lit | None = None


@dataclass(frozen=True, slots=True)
class ClassDef:
    """One module class."""

    name: str
    init: tuple[Init, ...]
    args: tuple[Arg, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class TensorInput:
    """An example tensor; ``transposed`` hands in ``.t()`` of a row-major one."""

    fill: Fill
    transposed: bool = False


Input = TensorInput | Lit


@dataclass(frozen=True)
class Program:
    """A random model and the arguments that it is called with."""

    classes: tuple[ClassDef, ...]
    args: tuple[Input, ...]
    kwargs: tuple[tuple[str, Input], ...] = ()
    training: bool = False

    @property
    def root(self) -> ClassDef:
        """The class of the model itself."""
        return self.classes[-1]

    @cached_property
    def features(self) -> frozenset[str]:
        """The feature tags of this Program, see ``strategies.features``."""
        from strategies.features import tags_of  # features.py reads Programs, so not at the top

        return tags_of(self)


def news(cls: ClassDef) -> Iterator[New]:
    """Every module that a class makes in its own ``__init__``, in source order."""
    for init in cls.init:
        if isinstance(init, Child):
            yield init.new
        elif isinstance(init, Container):
            yield from (item for item in init.items if isinstance(item, New))


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement of a body, nested ones included, in source order."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, If):
            yield from statements(stmt.then)
            yield from statements(stmt.orelse)


def expressions(body: tuple[Stmt, ...]) -> Iterator[Expr]:
    """Every expression of a body, operands included, outermost first."""
    for stmt in statements(body):
        if isinstance(stmt, Assign | Do | Return):
            yield from _within(stmt.value)
        elif isinstance(stmt, If) and stmt.test.subject is not None:
            yield from _within(stmt.test.subject)
        elif isinstance(stmt, Loop):
            for arg in stmt.args:
                yield from _within(arg)


def _within(expr: Expr) -> Iterator[Expr]:
    yield expr
    parts: tuple[Expr, ...] = ()
    if isinstance(expr, Op):
        parts = expr.operands
    elif isinstance(expr, Call):
        parts = expr.args + tuple(value for _, value in expr.kwargs)
    elif isinstance(expr, Group):
        parts = expr.items
    elif isinstance(expr, Not):
        parts = (expr.flag,)
    for part in parts:
        yield from _within(part)

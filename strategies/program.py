"""The Program: an immutable description of a random model. Plain data, no torch objects.

A Program holds its classes bottom-up (a class uses only earlier ones, the root class ``Model`` is last),
the arguments that the model is called with, its training flag, and what is dynamic about its shapes.
``render`` turns it into source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeVar

from strategies.types import Shape

N = TypeVar("N")


class Kind(Enum):
    """The enumeration that a source defines where a member of it is passed around."""

    A = 1
    B = 2


ENUMS: dict[str, tuple[object, object]] = {
    "Enum": (1, 2),
    "IntEnum": (1, 2),
    "int, Enum": (1, 2),
    "str, Enum": ("a", "b"),
    "Flag": (1, 2),
}
"""What the enumeration is derived from, and the values that its members then have."""


class Size(tuple[int, ...]):
    """What the source writes as a ``torch.Size``."""

    __slots__ = ()


Literal = bool | int | float | str | Kind | Size | None | tuple["Literal", ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A step of a Path into an ``nn.ModuleDict``."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A step of a Path that takes part of a ``ModuleList`` or ``Sequential``: ``[start:stop]``."""

    start: int
    stop: int


Step = str | int | Key | Slice
Path = tuple[Step, ...]
"""The way from ``self`` to a submodule or attribute: ``("layers", 0, "w")`` is ``self.layers[0].w``."""


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
    """A tensor or Python value that hangs on ``self`` or on a submodule."""

    path: Path


@dataclass(frozen=True, slots=True)
class Op:
    """An entry of the op table applied to operands, with its constants in ``params``."""

    name: str
    operands: tuple[Expr, ...]
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A Python int that a tensor tells, an entry of the table of facts: ``x.shape[0]``."""

    name: str
    subject: Expr


@dataclass(frozen=True, slots=True)
class Star:
    """``*rest`` or (``double``) ``**options`` handed on in a call."""

    value: Var
    double: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the submodule at ``callee``, or of its ``method``; ``self`` itself is the empty path.

    ``form`` is an entry of FORMS: how the call is written.
    """

    callee: Path
    args: tuple[Expr | Star, ...]
    kwargs: tuple[tuple[str, Expr], ...] = ()
    method: str = ""
    form: str = ""


FORMS: dict[str, str] = {
    "": "{0}({args})",
    "first": "{0}({args})[0]",
    "tokens": "{0}(torch.remainder({args}, 3))",
    "self_attention": "{0}({args}, {args}, {args})[0]",
    "checkpoint": "checkpoint({0}, {args}, use_reentrant=False)",
}
"""How a call is written, over the callee's text and the arguments' text."""


@dataclass(frozen=True, slots=True)
class Apply:
    """A call of something callable that a variable holds."""

    function: Var
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """The submodule at ``path``, or (``method``) a bound method of it, as a value to pass on."""

    path: Path
    method: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of torch as a value to pass on; the name of an entry of FUNCTIONS."""

    name: str


FUNCTIONS: dict[str, str] = {"relu": "torch.relu", "neg": "torch.neg", "tanh": "torch.tanh"}
"""How the function of an entry of the op table is written when it is not called on the spot."""


@dataclass(frozen=True, slots=True)
class Group:
    """A container of values; ``kind`` is tuple, list, dict, named (a namedtuple) or data (a dataclass).

    Items of the last three are named by ``keys``.
    """

    kind: str
    items: tuple[Expr, ...]
    keys: tuple[str, ...] = ()


FIELDS = ("left", "right")
"""The fields of the namedtuple and of the dataclass that programs use."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a container holds under an index, a key or (``dotted``) a field."""

    base: Var
    key: int | str
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Ternary:
    """``then if test else orelse``."""

    test: Cond
    then: Expr
    orelse: Expr


Expr = Lit | Var | Not | Attr | Op | Fact | Call | Apply | Bound | Function | Group | Item | Ternary


@dataclass(frozen=True, slots=True)
class Cond:
    """An entry of a condition table: of a mode, of a subject, or of a subject and an ``other``."""

    name: str
    subject: Expr | None = None
    params: tuple[Literal, ...] = ()
    other: Expr | None = None


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
class Set:
    """``self.<path> = value``: rebinds a buffer, an attribute, or makes a new one."""

    path: Path
    value: Expr


@dataclass(frozen=True, slots=True)
class Swap:
    """``self.<first>, self.<second> = self.<second>, self.<first>``."""

    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Bump:
    """``self.<path> += 1`` on a Python int."""

    path: Path


@dataclass(frozen=True, slots=True)
class If:
    """``if test: then`` with an optional ``else``; ``match`` writes a test for equality as a ``match``."""

    test: Cond
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    match: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """``for layer in self.<container>: target = layer(target, *args)``.

    ``style`` is "" or "enumerate" for a list or Sequential, "values" or "items" for a ModuleDict.
    """

    container: Path
    target: str
    args: tuple[Expr, ...] = ()
    style: str = ""


@dataclass(frozen=True, slots=True)
class Repeat:
    """``for i in range(count): body``, or the same as a ``while`` on a Python counter."""

    var: str
    count: Expr
    body: tuple[Stmt, ...]
    style: str = "for"


@dataclass(frozen=True, slots=True)
class With:
    """``with <region>: body``; the name of an entry of the table of regions."""

    region: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """A local function over tensors, for a control-flow operator."""

    name: str
    args: tuple[str, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """``target = <torch.cond or another control-flow operator>`` over operands, with its local functions."""

    name: str
    target: str
    operands: tuple[Expr, ...]
    functions: tuple[Lambda, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """``return value``."""

    value: Expr


Stmt = Assign | Do | Set | Swap | Bump | If | Loop | Repeat | With | Control | Return


# --- construction ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fill:
    """A tensor's shape and values: all ``low`` where ``high`` is None, else evenly spaced."""

    shape: Shape
    low: float = 1.0
    high: float | None = None
    dtype: str = "float32"


@dataclass(frozen=True, slots=True)
class New:
    """A fresh instance of a class of the Program, or (``layer``) of an entry of the layer table.

    ``scale`` multiplies the initial values of the instance's own tensors: two instances of one class that
    hold the same values cannot be told apart when one is run for the other. ``guest`` is an existing module
    that the constructor is given.
    """

    name: str
    params: tuple[int | str, ...] = ()
    layer: bool = False
    scale: float = 1.0
    guest: Path = ()


@dataclass(frozen=True, slots=True)
class Child:
    """``self.<attr> = <New>``; ``traced`` replaces it by its ``fx.GraphModule``."""

    attr: str
    new: New
    traced: bool = False


@dataclass(frozen=True, slots=True)
class Bind:
    """``self.<target> = self.<source>``: shares a module or ties a tensor, at any depth."""

    target: Path
    source: Path


@dataclass(frozen=True, slots=True)
class Container:
    """A ``ModuleList``, ``Sequential`` or ``ModuleDict`` of fresh, existing (Path) and nested modules."""

    attr: str
    kind: str
    items: tuple[New | Path | Container, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor attribute; ``kind`` is parameter, buffer, scratch (a non-persistent buffer) or constant.

    A ``frozen`` parameter requires no gradient; ``layout`` is how it lies in memory, as that of an input.
    """

    attr: str
    kind: str
    fill: Fill
    frozen: bool = False
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """A buffer or constant made of an existing tensor: a view of it, or (no ``op``) the very same."""

    attr: str
    kind: str
    source: Path
    op: str = ""
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Plain:
    """A Python attribute."""

    attr: str
    value: Literal


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook of the table of hooks on the module at ``path``."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Parametrize:
    """A parametrization of the parameter ``attr`` of the module at ``path``."""

    path: Path
    attr: str
    name: str


Init = Child | Bind | Container | Tensor | Derived | Plain | Hook | Parametrize


FLAGS = ("bool", "int", "str", "float", "enum", "size")
"""The kinds of arguments that are Python values."""


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of a method.

    ``kind`` is tensor, optional, one of FLAGS, function, either (a tensor or a tuple), one of the kinds of
    Group, rest (``*rest``) or options (``**options``). Those that are ``unnamed`` stand before a ``/``.
    """

    name: str
    kind: str
    default: Lit | None = None
    unnamed: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A method besides ``forward``."""

    name: str
    args: tuple[Arg, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class ClassDef:
    """One module class; ``guest`` is the class of the module that its constructor takes, if it takes one."""

    name: str
    init: tuple[Init, ...]
    args: tuple[Arg, ...]
    body: tuple[Stmt, ...]
    methods: tuple[Method, ...] = ()
    guest: str = ""

    @property
    def bodies(self) -> tuple[tuple[Stmt, ...], ...]:
        """The bodies of all methods, ``forward`` first."""
        return (self.body, *(method.body for method in self.methods))


# --- inputs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorInput:
    """An example tensor; ``layout`` is "", transposed, sliced, offset or expanded: how it lies in memory."""

    fill: Fill
    layout: str = ""
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """The tensor of an earlier argument once more, or (``op``) a view of it."""

    name: str
    op: str = ""
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupInput:
    """A container of inputs, of a kind of Group."""

    kind: str
    items: tuple[Input, ...]
    keys: tuple[str, ...] = ()


Input = TensorInput | Again | GroupInput | Lit


@dataclass(frozen=True, slots=True)
class Dim:
    """A dynamic dimension: ``kind`` is named (a ``Dim`` from ``low`` to ``high``), auto or dynamic."""

    name: str
    kind: str
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Which sizes are dynamic, and the sizes to probe.

    ``places`` are (argument, dimension, name of a Dim); every probe gives a size to each Dim, in their order.
    """

    dims: tuple[Dim, ...]
    places: tuple[tuple[str, int, str], ...]
    probes: tuple[tuple[int, ...], ...]


Given = tuple[tuple[str, Input], ...]
"""Inputs by the name of the argument that takes them."""


@dataclass(frozen=True)
class Program:
    """A random model and the arguments that it is called with; ``enum`` is a name of ENUMS."""

    classes: tuple[ClassDef, ...]
    args: Given
    kwargs: Given = ()
    training: bool = False
    dynamic: Dynamic | None = None
    enum: str = "Enum"

    @property
    def root(self) -> ClassDef:
        """The class of the model itself."""
        return self.classes[-1]

    @property
    def inputs(self) -> Given:
        """Everything that is handed in, by name."""
        return self.args + self.kwargs

    @cached_property
    def features(self) -> frozenset[str]:
        """The feature tags of this Program, see ``strategies.features``."""
        from strategies.features import tags_of  # features.py reads Programs, so not at the top

        return tags_of(self)


# --- walking -----------------------------------------------------------------------------------


def nodes(root: object) -> Iterator[object]:
    """Every node at or below one, in source order, outermost first."""
    if isinstance(root, tuple):
        for item in root:
            yield from nodes(item)
    elif type(root) in _PARTS:
        yield root
        for name in _PARTS[type(root)]:
            yield from nodes(getattr(root, name))


def rewritten(root: Any, change: Callable[[Any], Any]) -> Any:
    """What is at and below a node once ``change`` has replaced each part of it, the innermost first."""
    if type(root) is tuple:  # not a Size, which is a value
        return tuple(rewritten(item, change) for item in root)
    if not is_dataclass(root) or isinstance(root, type):
        return root
    parts = {field.name: rewritten(getattr(root, field.name), change) for field in fields(root)}
    return change(replace(root, **parts))


_LEAVES = {"str", "int", "float", "bool", "Path", "Shape", "int | str"}
_PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.type not in _LEAVES)
    for kind in (
        *(Lit, Var, Not, Attr, Op, Fact, Star, Call, Apply, Bound, Function, Group, Item, Ternary, Cond),
        *(Assign, Do, Set, Swap, Bump, If, Loop, Repeat, With, Lambda, Control, Return),
        *(New, Child, Bind, Container, Tensor, Derived, Plain, Hook, Parametrize, Arg, Method, ClassDef),
        *(TensorInput, Again, GroupInput),
    )
}
"""The fields of each kind of node that may hold further nodes."""


def news(cls: ClassDef) -> Iterator[New]:
    """Every module that a class makes in its own ``__init__``, in source order."""
    return (node for node in nodes(cls.init) if isinstance(node, New))


def of_type(root: object, kind: type[N]) -> list[N]:
    """The nodes of one type at or below one, in source order."""
    return [node for node in nodes(root) if isinstance(node, kind)]

"""Tidying a Program: dropping what no call, result or effect depends on.

Drawing leaves debris: results that nobody reads, tensors and children that nobody uses. It costs export
time, hides what matters from the reader and finds little, so most examples are tidied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from strategies.layers import LAYERS
from strategies.ops import OPS
from strategies.program import (
    Assign,
    Attr,
    Bind,
    Call,
    Child,
    ClassDef,
    Container,
    Expr,
    If,
    Init,
    Key,
    Loop,
    New,
    Op,
    Path,
    Program,
    Stmt,
    Tensor,
    Var,
    expressions,
    news,
    statements,
)


def tidy(program: Program) -> Program:
    """The Program without dead assignments, and without attributes and classes that are never used."""
    classes = tuple(replace(cls, body=_live(cls.body)) for cls in program.classes)
    return replace(program, classes=_needed_scales(_used_classes(_used_attributes(classes))))


# --- statements --------------------------------------------------------------------------


def _live(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Without assignments of effect-free expressions to names that are never read."""
    while True:
        read = {expr.name for expr in expressions(body) if isinstance(expr, Var)}
        read |= {stmt.target for stmt in statements(body) if isinstance(stmt, Loop)}
        kept = _without(body, read)
        if kept == body:
            return body
        body = kept


def _without(body: tuple[Stmt, ...], read: set[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.target not in read and _pure(stmt.value):
            continue
        if isinstance(stmt, If):
            then, orelse = _without(stmt.then, read), _without(stmt.orelse, read)
            if not then and not orelse:
                continue
            # An emptied `then` keeps its first statement: a body needs one, and `pass` tests nothing.
            stmt = replace(stmt, then=then or stmt.then[:1], orelse=orelse)
        kept.append(stmt)
    return tuple(kept)


def _pure(value: Expr) -> bool:
    if isinstance(value, Op):
        return not OPS[value.name].mutates and all(_pure(operand) for operand in value.operands)
    return not isinstance(value, Call)


# --- attributes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Use:
    """A statement of ``__init__`` that something depends on."""

    cls: str
    init: Init


@dataclass(frozen=True, slots=True)
class _Box:
    """A container, and the class whose ``__init__`` fills it."""

    owner: ClassDef
    container: Container


_Place = ClassDef | New | _Box | None
"""Where a path may end: at a module of a class, at a layer, at a container, or (None) at a tensor."""


class _Usage:
    """Which statements of ``__init__`` the bodies of all classes depend on."""

    def __init__(self, classes: tuple[ClassDef, ...]) -> None:
        self.classes = {cls.name: cls for cls in classes}
        self.used: set[_Use] = set()
        for cls in classes:
            for expr in expressions(cls.body):
                if isinstance(expr, Attr):
                    self.follow(cls, expr.path)
                elif isinstance(expr, Call):
                    self.follow(cls, expr.callee)
            for stmt in statements(cls.body):
                if isinstance(stmt, Loop):
                    self.follow(cls, stmt.container)

    def follow(self, cls: ClassDef, path: Path, before: Init | None = None) -> _Place:
        """Mark every statement that a path goes through; the place that it ends at.

        ``before`` is the statement of ``__init__`` that evaluates the path: it sees the earlier ones only.
        """
        here: _Place = cls
        for index, step in enumerate(path):
            attached = self._bound(cls, path[: index + 1], before)
            if attached is not None:
                here = self._enter(cls, attached)
            elif isinstance(here, ClassDef):
                declared = self._declared(here, step)
                here = None if declared is None else self._enter(here, declared)
            elif isinstance(here, _Box):
                keys = here.container.keys
                position = keys.index(step.name) if isinstance(step, Key) else step
                item = here.container.items[position] if isinstance(position, int) else None
                here = self._made(here.owner, item, here.container)
        return here

    def _bound(self, cls: ClassDef, path: Path, before: Init | None = None) -> Bind | None:
        earlier = cls.init if before is None else cls.init[: cls.init.index(before)]
        binds = [init for init in earlier if isinstance(init, Bind) and init.target == path]
        return binds[-1] if binds else None

    def _declared(self, cls: ClassDef, step: object) -> Init | None:
        for init in cls.init:
            if isinstance(init, Child | Container | Tensor) and init.attr == step:
                return init
        return self._bound(cls, (step,)) if isinstance(step, str) else None

    def _enter(self, cls: ClassDef, init: Init) -> _Place:
        self.used.add(_Use(cls.name, init))
        if isinstance(init, Bind):
            return self.follow(cls, init.source, init)
        if isinstance(init, Container):
            for item in init.items:
                self._made(cls, item, init)
            return _Box(cls, init)
        return self._made(cls, init.new, init) if isinstance(init, Child) else None

    def _made(self, cls: ClassDef, item: New | Path | None, init: Init) -> _Place:
        if isinstance(item, New):
            return item if item.layer else self.classes[item.name]
        return None if item is None else self.follow(cls, item, init)


def _used_attributes(classes: tuple[ClassDef, ...]) -> tuple[ClassDef, ...]:
    usage = _Usage(classes)
    return tuple(replace(cls, init=_used_inits(cls, usage)) for cls in classes)


def _used_inits(cls: ClassDef, usage: _Usage) -> tuple[Init, ...]:
    """The statements in use; a tie of two tensors is in use when both of its ends exist."""
    kept = [init for init in cls.init if _Use(cls.name, init) in usage.used]
    ties = [init for init in cls.init if isinstance(init, Bind) and init not in kept]
    for tie in ties:
        if _exists(cls, kept, tie.target, usage) and _exists(cls, kept, tie.source, usage):
            kept.append(tie)
    return tuple(init for init in cls.init if init in kept)


def _exists(cls: ClassDef, kept: list[Init], path: Path, usage: _Usage) -> bool:
    """Whether a path still leads to a tensor when only what is in use is left."""
    here: ClassDef | New = cls
    for step in path[:-1]:
        inits = kept if here is cls else list(here.init) if isinstance(here, ClassDef) else []
        child = next((i for i in inits if isinstance(i, Child) and i.attr == step), None)
        if child is None or not isinstance(here, ClassDef) or _Use(here.name, child) not in usage.used:
            return False
        here = child.new if child.new.layer else usage.classes[child.new.name]
    if not isinstance(here, ClassDef):
        return path[-1] in LAYERS[here.name].parameters
    own = next((i for i in here.init if isinstance(i, Tensor) and i.attr == path[-1]), None)
    return own is not None and _Use(here.name, own) in usage.used


# --- classes -----------------------------------------------------------------------------


def instantiated(cls: ClassDef) -> set[str]:
    """The classes that a class makes instances of in its own ``__init__``."""
    return {new.name for new in news(cls) if not new.layer}


def _used_classes(classes: tuple[ClassDef, ...]) -> tuple[ClassDef, ...]:
    """Without the classes that the root never instantiates."""
    needed = {classes[-1].name}
    for cls in reversed(classes):
        if cls.name in needed:
            needed |= instantiated(cls)
    return tuple(cls for cls in classes if cls.name in needed)


def _needed_scales(classes: tuple[ClassDef, ...]) -> tuple[ClassDef, ...]:
    """Without scales for classes that have no tensor left to scale."""
    scalable = {cls.name for cls in classes if any(isinstance(init, Tensor) for init in cls.init)}

    def plain(item: New | Path) -> New | Path:
        return replace(item, scale=1.0) if isinstance(item, New) and item.name not in scalable else item

    def init(stmt: Init) -> Init:
        if isinstance(stmt, Child) and stmt.new.name not in scalable:
            return replace(stmt, new=replace(stmt.new, scale=1.0))
        return replace(stmt, items=tuple(map(plain, stmt.items))) if isinstance(stmt, Container) else stmt

    return tuple(replace(cls, init=tuple(map(init, cls.init))) for cls in classes)

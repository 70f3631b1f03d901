"""Tidying a Program: dropping what no call, result or effect depends on.

Drawing leaves debris: results that nobody reads, branches that no call takes, tensors and children that
nobody uses. It costs export time, hides what matters from the reader and finds little, so most examples are
tidied. What to keep is read off a run: what was executed, and what of ``__init__`` that needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from strategies.conditions import CONDS, MODES, RELATIONS
from strategies.ops import OPS
from strategies.program import (
    Apply,
    Assign,
    Bound,
    Call,
    Child,
    ClassDef,
    Container,
    Control,
    Do,
    Expr,
    If,
    Init,
    Lit,
    Loop,
    Method,
    New,
    Op,
    Path,
    Program,
    Repeat,
    Return,
    Stmt,
    Tensor,
    Var,
    With,
    new_modules,
    nodes,
    of_type,
)
from strategies.trace import Trace

M = TypeVar("M", ClassDef, Method)


def tidy(program: Program, trace: Trace) -> Program:
    """The Program without dead code, and without attributes, methods and classes that are never used."""
    used = trace.closure()
    # A method may be handed over and never be called.
    passed = {node.method for node in of_type(program.classes, Bound)}
    classes = []
    for cls in program.classes:
        methods = tuple(
            replace(method, body=_ran(cls.name, method.name, method.body, trace))
            for method in cls.methods
            if (cls.name, method.name) in trace.methods or method.name in passed
        )
        body = _ran(cls.name, "forward", cls.body, trace)
        init = tuple(init for init in cls.init if id(init) in used)
        classes.append(replace(cls, init=init, body=body, methods=methods))
    return replace(program, classes=_needed_scales(_used_classes(tuple(classes))))


# --- statements --------------------------------------------------------------------------


def _ran(cls: str, method: str, body: tuple[Stmt, ...], trace: Trace) -> tuple[Stmt, ...]:
    """What is left of a method."""
    return _live(_executed(body, trace)) if (cls, method) in trace.methods else (Return(Var("x")),)


def _executed(body: Iterable[Stmt], trace: Trace) -> tuple[Stmt, ...]:
    """Without what never ran. A branch on a Python value that always went one way is that way."""
    kept: list[Stmt] = []
    for stmt in body:
        if id(stmt) not in trace.executed:
            continue
        if isinstance(stmt, If):
            kept += _branch(stmt, trace)
        elif isinstance(stmt, With | Repeat):
            inner = _executed(stmt.body, trace)
            if inner:
                kept.append(replace(stmt, body=inner))
        elif isinstance(stmt, Control):
            functions = tuple(replace(f, body=_executed(f.body, trace)) for f in stmt.functions)
            kept.append(replace(stmt, functions=functions))
        else:
            kept.append(stmt)
    return tuple(kept)


PASS = Do(Lit(None))
"""``pass``, where nothing is left of a side."""


def _branch(stmt: If, trace: Trace) -> tuple[Stmt, ...]:
    then, orelse = _executed(stmt.then, trace), _executed(stmt.orelse, trace)
    both = (id(stmt), True) in trace.sides and (id(stmt), False) in trace.sides
    if both:
        return (replace(stmt, then=then or (PASS,), orelse=orelse),) if then or orelse else ()
    # What a fake tensor says of itself may differ from what the real one says: such a question stays.
    if _telling(stmt.test.name) and then:
        return (replace(stmt, then=then, orelse=()),)
    return then or orelse


def _telling(name: str) -> bool:
    if name in MODES:
        return MODES[name].traced
    return name in RELATIONS or not CONDS[name].kinds


def _live(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Without effect-free assignments to names that are never read."""
    while True:
        read = {node.name for node in nodes(body) if isinstance(node, Var)}
        read |= {loop.target for loop in of_type(body, Loop)}
        kept = _without(body, read)
        if kept == body:
            return _at_once(body)
        body = kept


def compact(program: Program) -> Program:
    """The Program with results that are returned at once, and all of its debris."""

    def shorter(method: M) -> M:
        return replace(method, body=_at_once(method.body))

    classes = (shorter(replace(c, methods=tuple(map(shorter, c.methods)))) for c in program.classes)
    return replace(program, classes=tuple(classes))


def _at_once(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """``return value`` for ``x = value`` and ``return x``."""
    if len(body) > 1:
        first, last = body[-2:]
        if isinstance(first, Assign) and last == Return(Var(first.target)) and not _statement(first.value):
            return (*body[:-2], Return(first.value))
    return body


def _statement(value: Expr) -> bool:
    return isinstance(value, Op) and OPS[value.name].statement


def _without(body: tuple[Stmt, ...], read: set[str]) -> tuple[Stmt, ...]:
    kept: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.target not in read and _pure(stmt.value):
            continue
        if isinstance(stmt, Control) and stmt.target not in read:
            continue
        if isinstance(stmt, If):
            then, orelse = _without(stmt.then, read), _without(stmt.orelse, read)
            if not then and not orelse:
                continue
            # An emptied `then` keeps its first statement: a body needs one, and `pass` tests nothing.
            stmt = replace(stmt, then=then or stmt.then[:1], orelse=orelse)
        elif isinstance(stmt, With | Repeat):
            inner = _without(stmt.body, read)
            if not inner:
                continue
            stmt = replace(stmt, body=inner)
        kept.append(stmt)
    return tuple(kept)


def _pure(value: Expr) -> bool:
    return not any(
        isinstance(node, Call | Apply) or (isinstance(node, Op) and OPS[node.name].mutates)
        for node in nodes(value)
    )


# --- classes -----------------------------------------------------------------------------


def instantiated(cls: ClassDef) -> set[str]:
    """The classes that a class makes instances of in its own ``__init__``, or is given one of."""
    return {new.name for new in new_modules(cls) if not new.layer} | ({cls.guest} if cls.guest else set())


def _used_classes(classes: tuple[ClassDef, ...]) -> tuple[ClassDef, ...]:
    """Without the classes that the root never instantiates."""
    needed = {classes[-1].name}
    for cls in reversed(classes):
        if cls.name in needed:
            needed |= {new.name for new in new_modules(cls) if not new.layer}
    return tuple(cls for cls in classes if cls.name in needed)


def _needed_scales(classes: tuple[ClassDef, ...]) -> tuple[ClassDef, ...]:
    """Without scales for classes that have no tensor left to scale."""
    scalable = {cls.name for cls in classes if any(isinstance(init, Tensor) for init in cls.init)}

    def plain(item: New | Path | Container) -> New | Path | Container:
        if isinstance(item, Container):
            return replace(item, items=tuple(map(plain, item.items)))
        return replace(item, scale=1.0) if isinstance(item, New) and item.name not in scalable else item

    def init(stmt: Init) -> Init:
        if isinstance(stmt, Container):
            return replace(stmt, items=tuple(map(plain, stmt.items)))
        if isinstance(stmt, Child) and stmt.new.name not in scalable:
            return replace(stmt, new=replace(stmt.new, scale=1.0))
        return stmt

    return tuple(replace(cls, init=tuple(map(init, cls.init))) for cls in classes)

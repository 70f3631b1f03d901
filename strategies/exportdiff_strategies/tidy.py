"""Tidying a Program: removing whatever no call, result or effect depends on.

Drawing leaves unused code: results that nothing reads, branches that no call takes, tensors and children that
nothing uses. Unused code costs export time, distracts the reader and finds few bugs, so most Programs are
tidied. A Trace of a run shows what to keep: the statements that ran, and the statements of ``__init__`` that
these depended on. For example, ``if self.training: y = x + 1`` becomes ``y = x + 1`` if the model is always
in train mode.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import CONDS, MODES, RELATIONS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.trace import Trace

M = TypeVar("M", ir.ClassDef, ir.MethodDef)


def tidy(program: ir.Program, trace: Trace) -> ir.Program:
    """The Program without dead code, and without attributes, methods and classes that are never used."""
    used = trace.closure()
    # A method may be passed on and never be called.
    passed = {node.method for node in ir.of_type(program.classes, ir.ModuleOrMethod)}
    classes = []
    for cls in program.classes:
        methods = tuple(
            replace(method, body=_remaining(cls.name, method.name, method.body, trace))
            for method in cls.methods
            if (cls.name, method.name) in trace.methods or method.name in passed
        )
        body = _remaining(cls.name, "forward", cls.body, trace)
        init = tuple(init for init in cls.init if id(init) in used)
        classes.append(replace(cls, init=init, body=body, methods=methods))
    return replace(program, classes=_without_unused_scales(_used_classes(tuple(classes))))


# --- statements --------------------------------------------------------------------------


def _remaining(cls: str, method: str, body: tuple[ir.Stmt, ...], trace: Trace) -> tuple[ir.Stmt, ...]:
    """The body of a method after tidying."""
    return (
        _without_dead_code(_executed(body, trace))
        if (cls, method) in trace.methods
        else (ir.Return(ir.Var("x")),)
    )


def _executed(body: Iterable[ir.Stmt], trace: Trace) -> tuple[ir.Stmt, ...]:
    """The statements that ran. A branch that always went one way is replaced by that side."""
    kept: list[ir.Stmt] = []
    for stmt in body:
        if id(stmt) not in trace.executed:
            continue
        if isinstance(stmt, ir.If):
            kept += _branch(stmt, trace)
        elif isinstance(stmt, ir.With | ir.Repeat):
            inner = _executed(stmt.body, trace)
            if inner:
                kept.append(replace(stmt, body=inner))
        elif isinstance(stmt, ir.Try):
            kept += _tried(stmt, trace)
        elif isinstance(stmt, ir.Control):
            functions = tuple(replace(f, body=_executed(f.body, trace)) for f in stmt.functions)
            kept.append(replace(stmt, functions=functions))
        else:
            kept.append(stmt)
    return tuple(kept)


PASS = ir.Do(ir.Lit(None))
"""``pass``, for a side of a branch without statements."""


def _branch(stmt: ir.If, trace: Trace) -> tuple[ir.Stmt, ...]:
    then, orelse = _executed(stmt.then, trace), _executed(stmt.orelse, trace)
    both = (id(stmt), True) in trace.sides and (id(stmt), False) in trace.sides
    if both:
        return (replace(stmt, then=then or (PASS,), orelse=orelse),) if then or orelse else ()
    # A fake tensor may give another answer than the real one, so such a condition stays.
    if _may_differ_when_traced(stmt.test.name) and then:
        return (replace(stmt, then=then, orelse=()),)
    return then or orelse


def _tried(stmt: ir.Try, trace: Trace) -> tuple[ir.Stmt, ...]:
    body, handler = _executed(stmt.body, trace), _executed(stmt.handler, trace)
    if (id(stmt), True) not in trace.sides:
        return body
    return (replace(stmt, body=body, handler=handler or (PASS,)),)


def _may_differ_when_traced(name: str) -> bool:
    """Whether a condition may have another truth for a fake tensor, or while a model is traced."""
    if name in MODES:
        return MODES[name].traced
    return name in RELATIONS or not CONDS[name].kinds


def _without_dead_code(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """The body without assignments that have no effect, to names that are never read."""
    while True:
        read = {node.name for node in ir.nodes(body) if isinstance(node, ir.Var)}
        read |= {loop.target for loop in ir.of_type(body, ir.Loop)}
        kept = _without_unread(body, read)
        if kept == body:
            return _returned_directly(body)
        body = kept


def compact(program: ir.Program) -> ir.Program:
    """The Program with ``return value`` for ``x = value; return x``, and with all of its unused code."""

    def shorter(method: M) -> M:
        return replace(method, body=_returned_directly(method.body))

    classes = (shorter(replace(c, methods=tuple(map(shorter, c.methods)))) for c in program.classes)
    return replace(program, classes=tuple(classes))


def _returned_directly(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """``return value`` instead of ``x = value`` and ``return x``."""
    if len(body) > 1:
        first, last = body[-2:]
        if (
            isinstance(first, ir.Assign)
            and last == ir.Return(ir.Var(first.target))
            and not _is_statement(first.value)
        ):
            return (*body[:-2], ir.Return(first.value))
    return body


def _is_statement(value: ir.Expr) -> bool:
    return isinstance(value, ir.Op) and OPS[value.name].statement


def _without_unread(body: tuple[ir.Stmt, ...], read: set[str]) -> tuple[ir.Stmt, ...]:
    kept: list[ir.Stmt] = []
    for stmt in body:
        if isinstance(stmt, ir.Assign) and stmt.target not in read and _has_no_effect(stmt.value):
            continue
        if isinstance(stmt, ir.Control) and stmt.target not in read:
            continue
        if isinstance(stmt, ir.If):
            then, orelse = _without_unread(stmt.then, read), _without_unread(stmt.orelse, read)
            if not then and not orelse:
                continue
            # An emptied `then` keeps its first statement: a body needs one, and `pass` tests nothing.
            stmt = replace(stmt, then=then or stmt.then[:1], orelse=orelse)
        elif isinstance(stmt, ir.Try):
            # What raises is kept, and so is its try.
            handler = _without_unread(stmt.handler, read) or (PASS,)
            stmt = replace(stmt, body=_without_unread(stmt.body, read), handler=handler)
        elif isinstance(stmt, ir.With | ir.Repeat):
            inner = _without_unread(stmt.body, read)
            if not inner:
                continue
            stmt = replace(stmt, body=inner)
        kept.append(stmt)
    return tuple(kept)


def _has_no_effect(value: ir.Expr) -> bool:
    return not any(
        isinstance(node, ir.CallModule | ir.CallVariable)
        or (isinstance(node, ir.Op) and OPS[node.name].mutates)
        for node in ir.nodes(value)
    )


# --- classes -----------------------------------------------------------------------------


def instantiated(cls: ir.ClassDef) -> set[str]:
    """The classes that the ``__init__`` of a class instantiates, and the class of its guest."""
    return {new.name for new in ir.new_modules(cls) if not new.layer} | ({cls.guest} if cls.guest else set())


def _used_classes(classes: tuple[ir.ClassDef, ...]) -> tuple[ir.ClassDef, ...]:
    """The classes that the root instantiates, directly or not."""
    needed = {classes[-1].name}
    for cls in reversed(classes):
        if cls.name in needed:
            needed |= {new.name for new in ir.new_modules(cls) if not new.layer}
    return tuple(cls for cls in classes if cls.name in needed)


def _without_unused_scales(classes: tuple[ir.ClassDef, ...]) -> tuple[ir.ClassDef, ...]:
    """The classes, without the scales of instances that have no tensors."""
    scalable = {cls.name for cls in classes if any(isinstance(init, ir.TensorAttr) for init in cls.init)}

    def change(node: Any) -> Any:
        unscaled = isinstance(node, ir.New) and node.name not in scalable
        return replace(node, scale=1.0) if unscaled else node

    return tuple(replace(cls, init=ir.rewritten(cls.init, change)) for cls in classes)

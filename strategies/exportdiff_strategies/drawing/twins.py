"""Drawing statements that differ from others in one detail: ``x * 2`` and ``x * 2.0``.

Export compares the graphs of two calls, and may take different graphs for equal ones. It does so only if they
nearly agree. So the branches drawn here differ in one detail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.modules import modules
from exportdiff_strategies.drawing.operations import VIEWS, assign, draw_op, enabled
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.types import inexact

TRIES = 6
"""How many details are tried."""

N = TypeVar("N")


def _other_types() -> Iterator[tuple[str, str]]:
    """Ops that only differ in the type of a constant: ``x * 2`` and ``x * 2.0``."""
    found: dict[str, str] = {}
    for name, spec in OPS.items():
        twin = found.setdefault(re.sub(r"(\d)\.0\b", r"\1", spec.template), name)
        if twin != name and spec.template != OPS[twin].template:
            yield from ((name, twin), (twin, name))


TYPED = dict(_other_types())
"""Name of an op -> the op with a float instead of an int, or the other way round."""


def draw_twin(scope: Scope, body: Sequence[ir.Stmt]) -> list[ir.Stmt] | None:
    """Copy statements with one detail changed, and execute the copy; None if no change is valid."""
    body = [stmt for stmt in body if not isinstance(stmt, ir.Return)]
    details = [(old, new) for old in ir.nodes(tuple(body)) for new in _other(scope, old)]
    if not details:
        return None
    first = scope.choose.upto(len(details) - 1)
    # Neighbours are often similar, and fail for the same reason.
    apart = max(len(details) // TRIES, 1)
    for turn in range(min(TRIES, len(details))):
        old, new = details[(first + apart * turn) % len(details)]
        copy = [copied(stmt, old, new) for stmt in body]
        trial = replace(scope, frames=scope.copies())
        if _runs(trial, copy):
            scope.frames[:] = trial.frames
            return copy
    return None


def draw_pair(scope: Scope) -> ir.Stmt | None:
    """Draw ``x = f(x) + g(x)`` with two ops that differ in one detail, and execute it; None if no ops fit."""
    tensors = scope.tensors()
    names: Sequence[Sequence[str]] = enabled(scope, mutating=False)
    if scope.choose.chance(50):
        # The type of a number only matters for tensors of integers.
        tensors = [expr for expr in tensors if _whole(scope, expr)] or tensors
        names = [[*TYPED]]
    op = draw_op(scope, names, tensors, tensors)
    if op is None:
        return None
    others = [*_other_op(op)]
    first = scope.choose.mostly_first([*range(len(others))]) if others else 0
    join = scope.choose.pick(("add", "mul", "sub"))
    for turn in range(min(TRIES, len(others))):
        stmt = assign(
            scope, ir.Op(join, (op, others[(first + turn) % len(others)])), op.operands[0], new_name=False
        )
        trial = replace(scope, frames=scope.copies())
        if _runs(trial, [stmt]):
            scope.frames[:] = trial.frames
            return stmt
    return None


def _whole(scope: Scope, expr: ir.Expr) -> bool:
    ref = scope.value(expr, scope.frames[0])
    return ref is not None and not inexact(ref.type.dtype)


def _runs(trial: Scope, body: Sequence[ir.Stmt]) -> bool:
    """Execute statements. The changed detail can make their operands invalid, so the machine checks these."""
    trial.machine.checks_params = True
    try:
        return all(trial.try_out(stmt) for stmt in body)
    finally:
        trial.machine.checks_params = False


def copied(root: N, old: object, new: object) -> N:
    """Copy a tree of nodes, with ``new`` in place of the node ``old`` (found by identity).

    All nodes of the copy are new objects, because the machine records by identity which statements ran.
    """
    if root is old:
        return new  # type: ignore[return-value]  # callers replace a node by one of the same kind
    if isinstance(root, tuple):
        return tuple(copied(item, old, new) for item in root)  # type: ignore[return-value]  # a tuple again
    if not is_dataclass(root) or isinstance(root, type):
        return root
    return replace(root, **{each.name: copied(getattr(root, each.name), old, new) for each in fields(root)})


def _other(scope: Scope, node: object) -> Iterator[object]:
    """Nodes that can replace a node."""
    if isinstance(node, ir.Op):
        yield from _other_op(node)
    elif isinstance(node, ir.Lit):
        yield from (ir.Lit(value) for value in _other_literal(node.value))
    elif isinstance(node, ir.Attr):
        yield from (attr for attr in scope.attributes()[:4] if attr != node)
    elif isinstance(node, ir.Var):
        yield from (var for var in scope.variables()[:3] if var != node)
    elif isinstance(node, ir.CallModule):
        yield from _other_call(scope, node)


def _other_op(op: ir.Op) -> Iterator[ir.Op]:
    spec = OPS[op.name]
    alike = [
        name
        for name, other in OPS.items()
        if (other.group, other.arity, other.choices, other.mutates, other.integer)
        == (spec.group, spec.arity, spec.choices, spec.mutates, spec.integer)
        and other.statement == spec.statement
    ]
    if op.name in TYPED:
        yield replace(op, name=TYPED[op.name])
    at = alike.index(op.name)
    yield from (replace(op, name=name) for name in [*alike[at + 1 :], *alike[:at]][:2])
    for place, value in enumerate(op.params):
        for other in _other_literal(value):
            yield replace(op, params=(*op.params[:place], other, *op.params[place + 1 :]))
    if spec.arity == 2 and op.name not in VIEWS:
        first, second, *rest = op.operands
        if first != second:
            yield replace(op, operands=(second, first, *rest))


def _other_literal(value: object) -> Iterator[ir.Literal]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield 0.5 if value == 2.0 else 2.0
    elif value in ("a", "b"):
        yield "b" if value == "a" else "a"


def _other_call(scope: Scope, call: ir.CallModule) -> Iterator[ir.CallModule]:
    others: list[ir.CallModule] = [
        replace(call, callee=path) for path, _ in modules(scope.frames[0].owner, 2)
    ][:3]
    yield from (other for other in others if other != call)
    for place in range(len(call.kwargs)):
        yield replace(call, kwargs=(*call.kwargs[:place], *call.kwargs[place + 1 :]))

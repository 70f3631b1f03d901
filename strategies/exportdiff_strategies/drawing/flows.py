"""Drawing values that take two steps: kept twice, or computed, read and written in an order that matters.

The first statement of a flow is returned; the others follow it, each if every scenario accepts it.
"""

from __future__ import annotations

from functools import partial

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.modules import class_of
from exportdiff_strategies.drawing.operations import VIEWS, draw_op, draw_use
from exportdiff_strategies.drawing.scope import Maker, Scope, tried
from exportdiff_strategies.drawing.state import COUNTING, buffers
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.values import Instance, TensorValue


def draw_flow(scope: Scope) -> ir.Stmt | None:
    """One of the flows that the switches allow."""
    ways = [way for name, way in FLOWS.items() if scope.choose.on(name)]
    return scope.choose.pick(ways)(scope) if ways and not scope.operator_args else None


def _then(scope: Scope, *makers: Maker) -> None:
    """Let these statements follow; each is dropped if a scenario rejects it."""
    scope.pending.extend(map(tried, makers))


def _pair(scope: Scope) -> tuple[ir.AttributePath, ir.AttributePath] | None:
    """Two different buffers or tensor attributes, the nearest first."""
    found = buffers(scope)
    others = [path for path, ref in found[1:] if ref is not found[0][1]]
    if not others:
        return None
    first, second = found[0][0], scope.choose.pick(others)
    return (second, first) if scope.choose.chance(40) else (first, second)


def _stored(scope: Scope, path: ir.AttributePath, value: ir.Expr, rebinds: bool) -> ir.Stmt | None:
    """``self.b = value`` or ``self.b.copy_(value)``."""
    if rebinds:
        return ir.SetAttr(path, value)
    op = draw_op(scope, [("copy_",)], [ir.Attr(path)], [value])
    return None if op is None else ir.Do(op)


_NEW_VALUES = ("add", "mul", "sub", "add_one", "neg", "tanh", "clone")
"""Ops for a value that is to be kept."""


def _new_value(scope: Scope, *operands: ir.Expr) -> ir.Op | None:
    return draw_op(scope, [_NEW_VALUES[:3], _NEW_VALUES], operands, scope.tensors())


def _kept_twice(scope: Scope) -> ir.Stmt | None:
    """One value into two buffers."""
    pair = _pair(scope)
    value = _new_value(scope, *scope.near())
    if pair is None or value is None:
        return None
    kept = ir.Var(scope.name())
    first, second = (scope.choose.chance(50) for _ in range(2))
    _then(
        scope,
        partial(_stored, path=pair[0], value=kept, rebinds=first),
        partial(_stored, path=pair[1], value=kept, rebinds=second),
        partial(draw_use, values=[ir.Attr(pair[scope.choose.upto(1)])]),
    )
    return ir.Assign(kept.name, value)


def _shifted(scope: Scope) -> ir.Stmt | None:
    """``self.previous = self.current``, and then another value for ``self.current``."""
    pair = _pair(scope)
    if pair is None:
        return None
    target, source = pair
    _then(
        scope,
        partial(_overwritten, path=source),
        partial(draw_use, values=[ir.Attr(target)]),
    )
    return _stored(scope, target, ir.Attr(source), scope.choose.chance(50))


def _overwritten(scope: Scope, path: ir.AttributePath) -> ir.Stmt | None:
    if scope.choose.chance(40):
        op = draw_op(scope, [COUNTING], [ir.Attr(path)], scope.tensors()[:3])
        return None if op is None else ir.Do(op)
    value = _new_value(scope, *scope.near())
    return None if value is None else _stored(scope, path, value, scope.choose.chance(50))


def _updated(scope: Scope, reads: bool) -> ir.Stmt | None:
    """``h = tanh(self.hidden + x)``, ``self.hidden = h``; ``reads``: the old value is used in between."""
    found = buffers(scope)
    if not found:
        return None
    path = scope.choose.mostly_first(found)[0]
    value = _new_value(scope, ir.Attr(path))
    if value is None:
        return None
    if not reads and scope.choose.chance(40):
        value = draw_op(scope, [("tanh", "relu", "sigmoid")], [value], []) or value
    new = ir.Var(scope.name())
    kept: ir.Expr = ir.Op("detach", (new,)) if scope.choose.chance(40) else new
    store = partial(_stored, path=path, value=kept, rebinds=scope.choose.chance(50))
    _then(scope, *([partial(draw_use, values=[ir.Attr(path)])] if reads else []), store)
    return ir.Assign(new.name, value)


def _alias_written(scope: Scope) -> ir.Stmt | None:
    """Of two arguments that share memory, one is written to, and a view of the other is made."""
    names = [ir.Var(arg.name) for arg in scope.args if arg.kind in ("tensor", "optional")]
    refs = [(var, scope.value(var, scope.frames[0])) for var in names]
    pairs = [
        (first, second)
        for first, one in refs
        for second, other in refs
        if isinstance(one, TensorValue) and isinstance(other, TensorValue)
        if one is not other and one.storage is other.storage
    ]
    if not pairs:
        return None
    first, second = scope.choose.pick(pairs)
    op = draw_op(
        scope, [("add_", "mul_", "zero_", "neg_"), ("set_all_two", "copy_")], [first], scope.tensors()
    )
    if op is None:
        return None
    _then(scope, partial(_viewed, var=second))
    return ir.Do(op)


def _viewed(scope: Scope, var: ir.Var) -> ir.Stmt | None:
    view = draw_op(scope, [VIEWS], [var], [])
    if view is None:
        return None
    name = scope.name()
    if not scope.depth:
        scope.wanted.append(ir.Var(name))
    return ir.Assign(name, view)


def write_alias_first(scope: Scope) -> None:
    """Let a body begin with a write to one of two arguments that share memory."""
    if scope.choose.maybe("flow.aliases", 60):
        _then(scope, _alias_written)


FLOWS: dict[str, Maker] = {
    "flow.twice": _kept_twice,
    "flow.shift": _shifted,
    "flow.between": partial(_updated, reads=True),
    "flow.recurrent": partial(_updated, reads=False),
    "flow.aliases": _alias_written,
}
"""Switch -> a flow."""


# A buffer that is returned by the module that writes to it


def returned_state(scope: Scope, body: list[ir.Stmt]) -> ir.Expr | None:
    """A tensor of the module that a body writes to, if the module should return it; else None.

    A statement that writes is added to a body that has none.
    """
    if not scope.frames or not scope.choose.maybe("flow.returned", 40):
        return None
    found = _written_here(tuple(body))
    if not found:
        own = [ir.Attr(path) for path, _ in buffers(scope) if len(path) == 1]
        op = draw_op(scope, [COUNTING], own, scope.tensors()[:3])
        if op is None or not scope.try_out(ir.Do(op)):
            return None
        body.append(ir.Do(op))
        found = [operand for operand in op.operands[:1] if isinstance(operand, ir.Attr)]
    return scope.choose.pick(found)


def _written_here(body: tuple[ir.Stmt, ...]) -> list[ir.Attr]:
    targets = [
        op.operands[0] for stmt in body if isinstance(stmt, ir.Do) for op in ir.of_type(stmt, ir.Op)[:1]
    ]
    written = [op.operands[0] for op in ir.of_type(body, ir.Op) if OPS[op.name].mutates == "value"]
    return [target for target in targets if isinstance(target, ir.Attr) and target in written]


def write_returned(scope: Scope, callee: Instance, name: str) -> None:
    """Let a write to the result of a call follow, if the callee returns its own state."""
    cls = class_of(callee)
    if cls is None or not scope.choose.maybe("flow.returned", 70):
        return
    result = getattr(cls.body[-1], "value", None) if cls.body else None
    if isinstance(result, ir.Attr) and len(result.path) == 1:
        _then(scope, partial(_write_to, var=ir.Var(name)))


def _write_to(scope: Scope, var: ir.Var) -> ir.Stmt | None:
    op = draw_op(scope, [COUNTING, ("mul_", "neg_", "clamp_")], [var], scope.tensors()[:3])
    return None if op is None else ir.Do(op)

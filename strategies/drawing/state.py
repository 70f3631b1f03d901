"""Drawing changes of what hangs on ``self``: rebinding, swapping, counting, creating."""

from __future__ import annotations

from strategies.drawing.operations import JOINS, assign, draw_use
from strategies.drawing.scope import Scope
from strategies.program import Attr, Bump, Do, Expr, Path, Set, Stmt, Swap, Var
from strategies.values import Instance, Ref

NEW_NAMES = ("cache", "last")
"""Attributes that only ``forward`` makes."""


def draw_update(scope: Scope) -> Stmt | None:
    """One of the ways to change an attribute, as the swarm allows."""
    ways = [way for name, way in _WAYS.items() if scope.choose.on(name)]
    return scope.choose.pick(ways)(scope) if ways and not scope.pure else None


def _buffers(scope: Scope) -> list[tuple[Path, Ref]]:
    found = []
    for path, value in scope.walk_state():
        holder = _holder(scope, path)
        if isinstance(value, Ref) and holder.slots.get(path[-1]) in ("buffer", "scratch", "constant"):
            found.append((path, value))
    return found


def _holder(scope: Scope, path: Path) -> Instance:
    holder = scope.frames[0].owner
    for step in path[:-1]:
        value = holder.attrs[step]
        assert isinstance(value, Instance)
        holder = value
    return holder


_RENEWING = ("add_one", "add", "sub", "clone", "detach", "neg")
_RETYPING = ("to_double", "long", "bfloat16", "unsqueeze", "row", "t", "flatten", "expand")
"""What a buffer is replaced by: the like of it, or another dtype, shape or layout."""


def draw_rebind(scope: Scope) -> Stmt | None:
    """``self.b = self.b + x``, or any other tensor: an input, another buffer, another dtype or shape."""
    buffers = _buffers(scope)
    if not buffers:
        return None
    # What a control-flow operator has read before: its functions are traced apart.
    buffers.sort(key=lambda found: found[0] not in scope.asked)
    path, _ = scope.choose.mostly_first(buffers)
    itself: list[Expr] = [Attr(path)]
    value = None
    if scope.choose.chance(70):
        names = _RETYPING if scope.choose.chance(40) else _RENEWING
        value = draw_use(scope, [names], itself, scope.tensors())
    return Set(path, value or scope.choose.pick(scope.tensors()))


def _copy(scope: Scope) -> Stmt | None:
    """``self.b.copy_(x)``, mostly of what the method is given: how caches and targets are kept."""
    buffers: list[Expr] = [Attr(path) for path, _ in _buffers(scope)]
    given: list[Expr] = [Var(arg.name) for arg in scope.args if arg.kind == "tensor"]
    sources = given if scope.choose.chance(60) else scope.tensors()
    op = draw_use(scope, [("copy_",)], buffers, sources)
    near = scope.recent() if op is not None and scope.choose.chance(40) else None
    if op is None or near is None:
        return None if op is None else Do(op)
    # What the buffer holds then is to be seen.
    used = draw_use(scope, [JOINS], [near], [op])
    return Do(op) if used is None else assign(scope, used, near)


def _swap(scope: Scope) -> Stmt | None:
    buffers = _buffers(scope)
    if len(buffers) < 2:
        return None
    (first, _), (second, _) = buffers[0], scope.choose.pick(buffers[1:])
    return Swap(first, second)


def _bump(scope: Scope) -> Stmt | None:
    counters = scope.numbers()
    return Bump(scope.choose.pick(counters).path) if counters else None


def _create(scope: Scope) -> Stmt | None:
    """An attribute that ``__init__`` does not know."""
    tensors = scope.tensors()
    return Set((scope.choose.pick(NEW_NAMES),), scope.choose.pick(tensors)) if tensors else None


_WAYS = {
    "update.bump": _bump,
    "update.rebind": draw_rebind,
    "update.swap": _swap,
    "update.create": _create,
    "update.copy": _copy,
}

"""Drawing changes of what hangs on ``self``: rebinding, swapping, counting, creating."""

from __future__ import annotations

from strategies.drawing.operations import draw_use
from strategies.drawing.scope import Scope
from strategies.program import Attr, Bump, Expr, Path, Set, Stmt, Swap
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


def _rebind(scope: Scope) -> Stmt | None:
    """``self.b = self.b + x``, or any other tensor: an input, another buffer, another dtype or shape."""
    buffers = _buffers(scope)
    if not buffers:
        return None
    path, _ = scope.choose.mostly_first(buffers)
    itself: list[Expr] = [Attr(path)]
    value = None
    if scope.choose.chance(70):
        names = _RETYPING if scope.choose.chance(40) else _RENEWING
        value = draw_use(scope, [names], itself, scope.tensors())
    return Set(path, value or scope.choose.pick(scope.tensors()))


def _swap(scope: Scope) -> Stmt | None:
    buffers = _buffers(scope)
    if len(buffers) < 2:
        return None
    (first, _), (second, _) = buffers[0], scope.choose.pick(buffers[1:])
    return Swap(first, second)


def _bump(scope: Scope) -> Stmt | None:
    counters = scope.numbers()
    return Bump(scope.choose.pick(counters).path) if counters else None


def draw_count(scope: Scope) -> Stmt | None:
    """``self.step += 1``, on a counter of the module itself."""
    own = [number for number in scope.numbers() if len(number.path) == 1]
    return Bump(own[0].path) if own else None


def _create(scope: Scope) -> Stmt | None:
    """An attribute that ``__init__`` does not know."""
    tensors = scope.tensors()
    return Set((scope.choose.pick(NEW_NAMES),), scope.choose.pick(tensors)) if tensors else None


_WAYS = {
    "update.bump": _bump,
    "update.rebind": _rebind,
    "update.swap": _swap,
    "update.create": _create,
}

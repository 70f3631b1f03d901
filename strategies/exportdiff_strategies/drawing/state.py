"""Drawing changes of attributes: rebinding, swapping, counting, creating."""

from __future__ import annotations

from collections.abc import Sequence

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.modules import class_of, module_at, modules
from exportdiff_strategies.drawing.operations import draw_op, draw_use
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.values import Instance, TensorValue

NEW_NAMES = ("cache", "last")
"""The names of attributes that only ``forward`` creates."""


def draw_update(scope: Scope) -> ir.Stmt | None:
    """One of the ways to change an attribute that the switches allow."""
    ways = [way for name, way in WAYS.items() if scope.choose.on(name)]
    return scope.choose.pick(ways)(scope) if ways and not scope.operator_args else None


def buffers(scope: Scope) -> list[tuple[ir.AttributePath, TensorValue]]:
    """Attributes of ``self``, or of a child, that can be rebound to another tensor."""
    found = []
    for path, value in scope.walk_state():
        holder = module_at(scope.frames[0].owner, path[:-1])
        if isinstance(value, TensorValue) and holder.slots.get(path[-1]) in ("buffer", "scratch", "constant"):
            found.append((path, value))
    return found


_SAME_TYPE_OPS = ("add_one", "add", "sub", "clone", "detach", "neg")
"""Ops for a new value of a buffer with the same type."""
_OTHER_TYPE_OPS = ("to_double", "long", "bfloat16", "unsqueeze", "row", "t", "flatten", "expand")
"""Ops for a new value of a buffer with another dtype, shape or layout."""


def draw_rebind(scope: Scope) -> ir.Stmt | None:
    """``self.b = self.b + x``, or any other tensor: an input, another buffer, another dtype or shape."""
    found = buffers(scope)
    # Attributes that a control-flow operator has read come first: its functions are traced separately.
    found.sort(key=lambda each: each[0] not in scope.read_by_operators)
    return draw_rebinding(scope, scope.choose.mostly_first(found)[0]) if found else None


def draw_rebinding(scope: Scope, path: ir.AttributePath, from_others: bool = True) -> ir.Stmt | None:
    """``self.<path> = value``, computed from the old value: mostly or, without ``from_others``, always."""
    itself: list[ir.Expr] = [ir.Attr(path)]
    other_type = scope.choose.chance(OTHER_TYPE)
    value: ir.Expr | None = None
    if not from_others or scope.choose.chance(70):
        names = _OTHER_TYPE_OPS if other_type else _SAME_TYPE_OPS
        value = draw_op(scope, [names], itself, scope.tensors())
    if value is None:
        value = scope.choose.pick(scope.tensors())
        if not other_type and not _same_type(scope, value, path):
            value = draw_op(scope, [_SAME_TYPE_OPS], itself, [])
    return None if value is None else ir.SetAttr(path, value)


OTHER_TYPE = 12
"""The percentage of new values that may have another shape or dtype than the old one: torch refuses most
programs that assign a buffer such a value."""


def _same_type(scope: Scope, value: ir.Expr, path: ir.AttributePath) -> bool:
    """Whether a value has the shape and the dtype of the attribute that it is for, in every scenario."""
    new, old = scope.values(value), scope.values(ir.Attr(path))
    if new is None or old is None:
        return False
    return all(
        (n.type.shape, n.type.dtype) == (o.type.shape, o.type.dtype) for n, o in zip(new, old, strict=True)
    )


def _copy(scope: Scope) -> ir.Stmt | None:
    """``self.b.copy_(x)``, mostly of an argument: how real code keeps caches and targets."""
    targets: list[ir.Expr] = [ir.Attr(path) for path, _ in buffers(scope)]
    given: list[ir.Expr] = [ir.Var(arg.name) for arg in scope.args if arg.kind == "tensor"]
    sources = given if scope.choose.chance(60) else scope.tensors()
    op = draw_op(scope, [("copy_",)], targets, sources)
    if op is None:
        return None
    used = draw_use(scope, [op], new_name=None) if scope.choose.chance(40) else None
    return used or ir.Do(op)


def draw_handover(scope: Scope) -> ir.SetAttr | None:
    """``self.child.scaled = x * 2``, for an attribute that the child reads; a call of the child follows."""
    if scope.operator_args:
        return None
    owner = scope.frames[0].owner
    read = [
        (*child, step)
        for kind in SET_FROM_OUTSIDE
        for child, module in modules(owner, 2)
        for step, slot in module.slots.items()
        if slot == kind and _reads(module, step)
    ]
    near = scope.recent()
    if not read or near is None:
        return None
    path = scope.choose.mostly_first(read)
    value = draw_op(scope, [_HANDED_OPS], [near], scope.tensors()[:3]) or near
    if not scope.choose.chance(OTHER_TYPE) and not _same_type(scope, value, path):
        changed = draw_op(scope, [_HANDED_OPS], [ir.Attr(path)], [near])
        if changed is None or not _same_type(scope, changed, path):
            return None
        value = changed
    return ir.SetAttr(path, value)


SET_FROM_OUTSIDE = ("constant", "scratch", "buffer")
"""The kinds of attributes that a parent sets on a child, the most usual kind first."""

_HANDED_OPS = ("double", "add_one", "neg", "mul", "add", "tanh", "sub")
"""Ops for the value of such an attribute."""


def draw_own_read(scope: Scope) -> ir.Stmt | None:
    """``x = x * self.scaled``, for an attribute that a parent may have set."""
    return draw_use(scope, _own(scope, SET_FROM_OUTSIDE), ("add", "mul", "sub"))


def draw_own_write(scope: Scope) -> ir.Stmt | None:
    """``self.count.add_(1)``: a module that counts, or keeps statistics."""
    op = draw_op(scope, [COUNTING], _own(scope, ("buffer", "scratch")), scope.tensors()[:3])
    return None if op is None else ir.Do(op)


COUNTING = ("add_", "add_tensor_", "copy_", "sub_")
"""Ops by which a module updates its own buffers."""


def _own(scope: Scope, kinds: Sequence[str]) -> list[ir.Expr]:
    """The tensors of these kinds that are attributes of ``self``."""
    slots = scope.frames[0].owner.slots
    return [ir.Attr((step,)) for kind in kinds for step, slot in slots.items() if slot == kind]


def _reads(module: Instance, step: ir.Step) -> bool:
    cls = class_of(module)
    return cls is not None and ir.Attr((step,)) in ir.of_type(cls.body, ir.Attr)


def _swap(scope: Scope) -> ir.Stmt | None:
    found = buffers(scope)
    if len(found) < 2:
        return None
    first, *others = (path for path, _ in found)
    if not scope.choose.chance(OTHER_TYPE):
        others = [path for path in others if _same_type(scope, ir.Attr(path), first)]
    return ir.Swap(first, scope.choose.pick(others)) if others else None


def _bump(scope: Scope) -> ir.Stmt | None:
    counters = scope.numbers()
    return ir.Increment(scope.choose.pick(counters).path) if counters else None


def draw_count(scope: Scope) -> ir.Stmt | None:
    """``self.step += 1``, for a counter of the module itself."""
    own = [number for number in scope.numbers() if len(number.path) == 1]
    return ir.Increment(own[0].path) if own else None


def _create(scope: Scope) -> ir.Stmt | None:
    """An attribute that ``__init__`` does not define."""
    tensors = scope.tensors()
    return ir.SetAttr((scope.choose.pick(NEW_NAMES),), scope.choose.pick(tensors)) if tensors else None


def draw_set_once(scope: Scope) -> ir.Stmt | None:
    """``if self.cache is None: self.cache = value``."""
    empty = [name for name, value in scope.frames[0].owner.attrs.items() if value is None]
    tensors = scope.tensors()
    if not empty or not tensors:
        return None
    path = (scope.choose.pick(empty),)
    value = draw_op(scope, [_SAME_TYPE_OPS], [scope.choose.mostly_first(tensors)], tensors)
    return None if value is None else ir.If(ir.Cond("is_none", ir.Attr(path)), (ir.SetAttr(path, value),))


def _grow(scope: Scope) -> ir.Stmt | None:
    """``self.cache = torch.cat([self.cache, x])``."""
    found = buffers(scope)
    if not found:
        return None
    path = scope.choose.mostly_first(found)[0]
    op = draw_op(scope, [("cat",)], [ir.Attr(path)], scope.tensors())
    return None if op is None else ir.SetAttr(path, op)


WAYS = {
    "update.bump": _bump,
    "update.rebind": draw_rebind,
    "update.swap": _swap,
    "update.create": _create,
    "update.lazy": draw_set_once,
    "update.copy": _copy,
    "update.grow": _grow,
}
"""Switch -> a way to change an attribute."""

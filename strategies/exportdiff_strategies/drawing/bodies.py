"""Drawing the body of a method: which kind of statement comes next, and what the method returns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import WITHIN
from exportdiff_strategies.constants import COLLECTIONS
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.drawing.calls import draw_apply, draw_call, draw_loop, draw_own_method, in_family
from exportdiff_strategies.drawing.control import (
    draw_branch,
    draw_control,
    draw_region,
    draw_repeat,
    draw_ternary,
)
from exportdiff_strategies.drawing.failing import draw_try
from exportdiff_strategies.drawing.flows import FLOWS, draw_flow
from exportdiff_strategies.drawing.modules import classes
from exportdiff_strategies.drawing.operations import (
    JOINS,
    VIEWS,
    draw_assign,
    draw_inplace,
    draw_measure_op,
    draw_op,
    draw_results,
)
from exportdiff_strategies.drawing.python_values import draw_output_value, keys_of
from exportdiff_strategies.drawing.scope import OPERANDS, Maker, Scope, tried
from exportdiff_strategies.drawing.state import (
    WAYS,
    buffers,
    draw_count,
    draw_own_read,
    draw_own_write,
    draw_rebind,
    draw_rebinding,
    draw_set_once,
    draw_update,
)
from exportdiff_strategies.drawing.twins import draw_pair
from exportdiff_strategies.ops import OPS, RESULTS
from exportdiff_strategies.regions import REGIONS


def draw_statements(scope: Scope, least: int, most: int) -> list[ir.Stmt]:
    """Draw from ``least`` to ``most`` statements; every scenario that reaches a statement accepts it."""
    body: list[ir.Stmt] = []
    number = 0
    while scope.frames:
        family = not scope.depth and in_family(scope)
        if not scope.pending or scope.operator_args:
            if number >= most + family:
                break
            if number >= least and not scope.choose.chance(LONGER if family else MORE):
                break
        stmt = scope.choose.as_unit(partial(_draw_next, scope, number))
        number += 1
        if stmt is not None:
            body.append(stmt)
    return body


def draw_body(scope: Scope, least: int, most: int) -> list[ir.Stmt]:
    """Draw the statements of a method, which may begin by counting its calls, or by filling a cache."""
    counted = _count(scope) if scope.choose.maybe("update.bump", 60) else None
    cached = _set_once(scope) if scope.choose.maybe("update.lazy", 75) else None
    return [*(stmt for stmt in (counted, cached) if stmt is not None), *draw_statements(scope, least, most)]


MORE = 62
"""The percentage of bodies that go on although they could end."""

LONGER = 88
"""The same for bodies that call one module and the modules above and below it."""


def _draw_next(scope: Scope, number: int) -> ir.Stmt | None:
    if scope.pending and not scope.operator_args:
        stmt = scope.pending.pop(0)(scope)
        if stmt is not None:
            return stmt
    if number or scope.depth:
        return _draw_statement(scope)
    if scope.choose.maybe("state.own", 60):
        first = (_write_own if scope.choose.chance(60) else _read_own)(scope)
        if first is not None:
            return first
    way = scope.choose.percent()
    if way < 10:
        return _plain(scope)
    first = _share(_openings(scope), way - 10, 90)(scope) or _call(scope)
    if first is not None or way < 50:
        return first
    # A class without children begins with a region or an update instead.
    return _share(_specials(scope) or [_plain], way - 50, 50)(scope)


def _share(makers: Sequence[Maker], part: int, whole: int) -> Maker:
    """The maker that owns this part, if the makers divide the whole equally: saves another draw."""
    return makers[part * len(makers) // whole]


def _openings(scope: Scope) -> list[Maker]:
    """What a body mostly begins with.

    A child that is never called, or a flag that is never read, tests little. A class with children that take
    flags mostly leaves the branching to them: in this way a flag reaches through several levels.
    """
    branches = 0
    if any(arg.kind != "tensor" for arg in scope.args):
        branches = 2 if _flagged_children(scope) else 15
    special: list[Maker] = [_apply] * 4 if scope.callables() else []
    if scope.methods:
        special.append(_own_method)
    return [_call, _call, _loop, *special, *([_branch] * branches)]


def _flagged_children(scope: Scope) -> bool:
    return any(arg.kind in ir.FLAGS for cls in classes(scope.frames[0].owner, 1) for arg in cls.args)


_plain = tried(draw_assign)
_call = tried(draw_call)
_loop = tried(draw_loop)
_apply = tried(draw_apply)
_own_method = tried(draw_own_method)
_read_own = tried(draw_own_read)
_write_own = tried(draw_own_write)
_update = tried(draw_update)
_rebind = tried(draw_rebind)
_count = tried(draw_count)
_set_once = tried(draw_set_once)
_ternary = tried(draw_ternary)
_flow = tried(draw_flow)


def _results(scope: Scope) -> ir.Stmt | None:
    """An op that returns a named tuple, and then a use of one of its fields."""
    stmt = scope.accepted(draw_results(scope))
    if stmt is None:
        return None
    if not scope.operator_args and isinstance(stmt.value, ir.Results) and scope.choose.chance(70):
        field = scope.choose.pick([*RESULTS[stmt.value.name].fields])
        scope.pending.append(
            tried(partial(_use_field, item=ir.Item(ir.Var(stmt.target), field, dotted=True)))
        )
    return stmt


def _use_field(scope: Scope, item: ir.Item) -> ir.Stmt | None:
    op = draw_op(scope, [JOINS], scope.near(), [item])
    return ir.Assign(scope.name(), op or item)


def _inplace(scope: Scope) -> ir.Stmt | None:
    stmt = _any_inplace(scope)
    op = stmt.value if isinstance(stmt, ir.Do | ir.Assign) else None
    if not isinstance(op, ir.Op) or OPS[op.name].mutates != "metadata":
        return stmt
    if isinstance(op.operands[0], ir.Var | ir.Attr) and scope.choose.maybe("inplace.read_back", 60):
        scope.pending.append(partial(_read_back, subject=op.operands[0]))
    return stmt


_any_inplace = tried(draw_inplace)


def _read_back(scope: Scope, subject: ir.Expr) -> ir.Stmt | None:
    """A statement that computes with the sizes of a tensor, or branches on them, after these have changed."""
    stmt = draw_branch(scope, draw_statements, subject) if scope.choose.chance(50) else None
    if stmt is None:
        stmt = tried(partial(draw_measure_op, subject=subject))(scope)
        if stmt is not None and scope.choose.chance(40):
            scope.pending.append(partial(draw_branch, suite=draw_statements, subject=subject))
    return stmt


def branch_on_size_first(scope: Scope, most: int | None = None) -> None:
    """Make a body begin with a branch on the sizes of ``x``: with dynamic shapes, this makes guards.

    ``most``: the end of the declared range of sizes, if there is one. Then the branch may ask for it.
    """
    if most is not None and scope.choose.maybe("control.shape", 75):
        within = ir.Cond(WITHIN, ir.Var("x"), (most,))
        scope.pending.append(partial(draw_branch, suite=draw_statements, cond=within))
    elif scope.choose.maybe("control.shape", 50):
        scope.pending.append(partial(draw_branch, suite=draw_statements, subject=ir.Var("x")))


def _keep(scope: Scope) -> ir.Stmt | None:
    """Store the value of a buffer, or compute with it; the next statement rebinds the buffer."""
    found = [path for path, _ in buffers(scope)]
    if not found or scope.operator_args:
        return None
    path = scope.choose.mostly_first(found)
    kept: ir.Expr = ir.Attr(path)
    if scope.choose.chance(50):
        # With a trained tensor: then the backward pass needs the old value of the buffer.
        tensors: list[ir.Expr] = [*scope.attributes(), *scope.variables()]
        refs = [(other, scope.value(other, scope.frames[0])) for other in tensors if other != kept]
        trained = [other for other, ref in refs if ref is not None and ref.grad]
        kept = draw_op(scope, [("mul", *JOINS)], [kept], trained or [other for other, _ in refs]) or kept
    scope.pending.append(tried(partial(draw_rebinding, path=path, from_others=False)))
    return ir.Assign(scope.name(), kept)


_keep_then_rebind = tried(_keep)


# These makers, and draw_pair, execute their statements while they draw them.
_branch: Maker = partial(draw_branch, suite=draw_statements)
_repeat: Maker = partial(draw_repeat, suite=draw_statements)
_region: Maker = partial(draw_region, suite=draw_statements)
_control: Maker = partial(draw_control, suite=draw_statements)
_try: Maker = partial(draw_try, suite=draw_statements)


def write_in_operator_first(scope: Scope) -> None:
    """Make a body begin with a control-flow operator that may write, where gradients are off."""
    if scope.choose.maybe("region.written", 70):
        scope.pending.append(partial(draw_control, suite=draw_statements, writes=True))


_MAKERS: list[Maker] = [*[_plain] * 2, *[_call] * 9, *[_inplace] * 11, *[_branch] * 3]
"""The ordinary statements, weighted by repetition, simplest first."""

_SPECIALS: dict[Maker, tuple[str, ...]] = {
    _loop: ("control.loop",),
    _repeat: ("control.repeat",),
    _ternary: ("control.ternary",),
    _try: ("control.try",) * 3,
    _update: tuple(WAYS),
    _region: tuple(f"region.{name}" for name, spec in REGIONS.items() if not spec.whole),
    _control: tuple(f"region.{name}" for name in CONTROLS),
    draw_pair: ("op.pair",),
    _results: ("op.results", "op.results", "output.result"),
    _keep_then_rebind: ("update.rebind",),
    _flow: tuple(FLOWS),
    _own_method: (),
    _apply: (),
}
"""The special statements, each as often as it has switches that are on."""

# Mostly calls: branches decide which module is called, and so the graphs of two calls differ.
_NESTED_MAKERS: list[Maker] = [_plain, *[_call] * 5, *[_inplace] * 2, _update, *[_branch] * 2, _apply]
"""The statements in branches, loops and ``with`` blocks."""

_PURE_MAKERS: list[Maker] = [_plain, *[_call] * 3]
"""The statements in local functions of control-flow operators."""

_WRITING_MAKERS: list[Maker] = [*_PURE_MAKERS, *[_inplace] * 2, *[_write_own] * 2]
"""The same, if the operator allows writes."""


def _draw_statement(scope: Scope) -> ir.Stmt | None:
    choose = scope.choose
    if scope.operator_args:
        makers = _WRITING_MAKERS if scope.operator_writes and choose.on("region.written") else _PURE_MAKERS
        return choose.pick(makers)(scope) or _plain(scope)
    if scope.depth:
        return choose.pick(_NESTED_MAKERS)(scope) or _plain(scope)
    if scope.read_by_operators and choose.maybe("update.rebind", 35):
        # The functions of an operator are traced separately; Python may change what they have read.
        return _rebind(scope) or _plain(scope)
    if in_family(scope) and choose.chance(60):
        return _call(scope) or _plain(scope)
    way = choose.percent()
    again = 78 if scope.called and choose.on("calls.again") else 100
    if way >= again:
        # For two calls of one child, unflatten has to decide whether their graphs are the same.
        return _call(scope) or _plain(scope)
    if way < ORDINARY:
        maker = _share(_MAKERS, way, ORDINARY)
    else:
        maker = _share(_specials(scope) or _MAKERS, way - ORDINARY, again - ORDINARY)
    return maker(scope) or _plain(scope)


ORDINARY = 46
"""The percentage of ordinary statements."""


def _specials(scope: Scope) -> list[Maker]:
    """The special statements that this Program may use."""
    found = [maker for maker, switches in _SPECIALS.items() for name in switches if scope.choose.on(name)]
    found += [maker for maker in found if maker in (_control, _keep_then_rebind)]
    found += [maker for maker in found if maker in (_region, _flow)]
    if scope.methods:
        found.append(_own_method)
    if scope.callables():
        found.append(_apply)
    return found


def draw_result(scope: Scope) -> ir.Expr | None:
    """The value that a method returns: mostly the newest tensor, or a container, an argument, state."""
    choose = scope.choose
    tensors: list[ir.Expr] = [*scope.variables()[:3]]
    if not tensors:
        return None
    if choose.maybe("calls.group_result", 50):
        kind = choose.pick(COLLECTIONS)
        second = (
            draw_output_value(scope) if choose.maybe("output.python", 40) else choose.pick(scope.tensors())
        )
        return ir.Collection(kind, (tensors[0], second), keys_of(choose, kind))
    if choose.maybe("calls.untouched", 30):
        return ir.Var("x") if ir.Var("x") in tensors else tensors[-1]
    if choose.chance(20):
        if choose.on("output.state"):
            tensors += scope.attributes()[:2]
        return choose.pick(tensors)
    return tensors[0]


def draw_outputs(scope: Scope) -> ir.Expr | None:
    """The value that the root class returns: a tensor, a Python value, or a container of these."""
    choose = scope.choose
    first: list[ir.Expr] = [*scope.variables()[:1]]
    if not first:
        return None
    if choose.maybe("output.python", 6):
        return draw_output_value(scope)
    if scope.written_state and choose.maybe("output.state", 60):
        # After calls of modules for their effect: read the state that these have changed.
        read = draw_op(scope, [JOINS], first, scope.written_state)
        first = [read or first[0]]
    wanted = [var for var in scope.wanted if var in scope.variables()]
    if wanted and choose.chance(70):
        return ir.Collection("tuple", (first[0], choose.pick(wanted)))
    boxes = scope.boxes("result")
    if boxes and choose.maybe("output.result", 80):
        return ir.Collection("tuple", (first[0], boxes[0])) if choose.chance(50) else boxes[0]
    kinds = [kind for kind in COLLECTIONS if choose.on(f"output.{kind}")]
    if not kinds or not choose.chance(65):
        more = scope.tensors() if choose.maybe("output.state", 30) else [*first]
        return choose.pick(more)
    kind = choose.pick(kinds)
    keys = keys_of(choose, kind)
    count = 2 if keys else choose.pick((1, 2, 3))
    items: list[ir.Expr] = [first[0]]
    while len(items) < count:
        items.append(_draw_output(scope))
    if choose.maybe("output.nested", 50):
        inner = choose.pick(("tuple", "list", "dict"))
        items[-1] = ir.Collection(inner, (items[-1], choose.pick(scope.tensors())), keys_of(choose, inner))
    return ir.Collection(kind, tuple(items), keys)


def _draw_output(scope: Scope) -> ir.Expr:
    choose = scope.choose
    options: list[ir.Expr] = [*scope.variables()[:OPERANDS]]
    if choose.on("output.argument"):
        options += [
            ir.Var(arg.name) for arg in scope.args if arg.kind == "tensor" and ir.Var(arg.name) not in options
        ]
    if choose.on("output.state"):
        options += scope.attributes()[:4] * 2
    if choose.maybe("output.view", 40):
        return draw_op(scope, [VIEWS], [choose.pick(options), *options], []) or options[0]
    if choose.maybe("output.python", 50):
        return draw_output_value(scope)
    return choose.pick(options)

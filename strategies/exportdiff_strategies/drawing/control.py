"""Drawing control flow: branches, ternaries, counted loops, regions and control-flow operators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import isfinite

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import CONDS, RELATIONS, WITHIN
from exportdiff_strategies.constants import LITERALS
from exportdiff_strategies.control import CONTROLS, COUNTER, ControlSpec
from exportdiff_strategies.drawing.calls import draw_call
from exportdiff_strategies.drawing.operations import FLOAT_OPS, VIEWS, assign, draw_inplace, draw_op
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.drawing.state import draw_own_write
from exportdiff_strategies.drawing.twins import draw_twin
from exportdiff_strategies.machine import new_tensor
from exportdiff_strategies.ops import Rejected
from exportdiff_strategies.regions import REGIONS
from exportdiff_strategies.types import dense, drop
from exportdiff_strategies.values import CallFrame

NESTING = 2
"""How deep suites may nest."""

RESULTS = ("add_one", "double", "neg", "tanh", "add_constant")
"""Ops for the results of local functions of control-flow operators: all of these make a new tensor."""

ATTEMPTS = 2
"""How many control-flow operators are drawn for one statement: most are rejected."""

JOINS_OF_STATE = ("add", "mul", "sub")
"""Ops of such functions on a tensor and on state."""

FUNCTION_NAMES = ("first", "second")
"""The names of the local functions of a control-flow operator."""

Suite = Callable[[Scope, int, int], list[ir.Stmt]]
"""Draws the statements of a nested suite. It is ``bodies.draw_statements``, which uses this module."""

_PARAMS: dict[str, tuple[tuple[ir.Literal, ...], ...]] = {
    "size": ((1,), (2,)),
    "size_is": ((3,),),
    "numel": ((7,),),
    "rank": ((2,), (1,), (3,)),
    "dtype": (("float32",), ("float64",)),
    "above": ((1,), (0,)),
    "length": ((1,), (2,)),
    "has_key": (("scale",),),
}
"""Name of a condition -> the constants that it may have."""


SELDOM = ("is_none", "is_given", "is_tensor", "is_tuple", "has_key", "same", "training", "requires_grad")
"""Conditions that are rare otherwise.

They need an argument of a rare kind, or two names of a tensor; or they seldom have different truths in two
calls (``training``, ``requires_grad``), so that most branches do not use them.
"""

_TENSOR_SWITCHES = {False: "control.shape", True: "control.grad"}
"""Whether a condition reads autograd's state -> the switch for such conditions on tensors."""


def _params(name: str, kind: str) -> tuple[tuple[ir.Literal, ...], ...]:
    """The constants that a condition may have, for an argument of a kind."""
    values = LITERALS.get(kind, ())
    if name in ("equals", "is_member"):
        return tuple((value,) for value in values[:2])
    if name == "in":
        return ((*[value for value in values[1:] if not isinstance(value, float) or isfinite(value)][:2],),)
    return _PARAMS.get(name, ((),))


def _tensor_conditions(scope: Scope, subject: ir.Expr) -> list[ir.Cond]:
    """The conditions on sizes and strides of one tensor that every scenario can decide."""
    found = [
        ir.Cond(name, subject, params)
        for name, spec in CONDS.items()
        if not spec.kinds and not spec.autograd and name not in ("dtype", WITHIN)
        for params in _params(name, "")
    ]
    return [cond for cond in found if _decidable(scope, cond)]


def conditions(scope: Scope) -> list[ir.Cond]:
    """The conditions that every scenario can decide, those on arguments first."""
    found: list[ir.Cond] = []
    for arg in scope.args:
        found += [
            ir.Cond(name, ir.Var(arg.name), params)
            for name, spec in CONDS.items()
            if arg.kind in spec.kinds
            for params in _params(name, arg.kind)
        ]
    found += [ir.Cond("above", number, (1,)) for number in scope.numbers()]
    found += [
        ir.Cond("equals", ir.Attr(path), ("a",)) for path, value in scope.walk_state() if value in ("a", "b")
    ]
    if scope.choose.on("control.training"):
        found.append(ir.Cond("training"))
    if scope.choose.on("control.grad"):
        found.append(ir.Cond("grad_enabled"))
    allowed = {autograd for autograd, name in _TENSOR_SWITCHES.items() if scope.choose.on(name)}
    if allowed:
        subjects: list[ir.Expr] = [*scope.variables()[:2], *scope.attributes()[:1]]
        found += [
            ir.Cond(name, subject, params)
            for subject in subjects
            for name, spec in CONDS.items()
            if not spec.kinds and spec.autograd in allowed and name != WITHIN
            for params in _params(name, "")
        ]
    if scope.choose.on("control.identity"):
        found += _relations(scope)
    return [cond for cond in found if _decidable(scope, cond)]


def _relations(scope: Scope) -> list[ir.Cond]:
    """Comparisons by identity: of arguments with each other and with state, and of state with state."""
    mine = [ir.Var(arg.name) for arg in scope.args if arg.kind in ("tensor", "optional")]
    tensors: list[ir.Expr] = [*mine[:2], *(var for var in scope.variables()[:2] if var not in mine)]
    state = scope.attributes()[:3]
    pairs = [*itertools.combinations(tensors, 2), *zip(tensors, state, strict=False)]
    pairs += itertools.combinations(state, 2)
    return [ir.Cond(name, first, other=second) for first, second in pairs for name in RELATIONS]


def _decidable(scope: Scope, cond: ir.Cond) -> bool:
    try:
        for frame in scope.frames:
            scope.holds(cond, frame)
    except Rejected:
        return False
    return True


def pick_condition(scope: Scope, conds: Sequence[ir.Cond]) -> ir.Cond:
    """Pick a condition. All names are equally likely, but those in SELDOM four times as likely.

    Otherwise those on tensors would crowd out the rest, because they hold for every tensor in reach.
    """
    names: dict[str, list[ir.Cond]] = {}
    for cond in conds:
        names.setdefault(cond.name, []).append(cond)
    return scope.choose.member([*names.values(), *[names[name] for name in SELDOM if name in names] * 3])


def split(scope: Scope, cond: ir.Cond) -> tuple[list[CallFrame], list[CallFrame]]:
    """The scenarios in which a condition is true, and the others."""
    taken: list[CallFrame] = []
    skipped: list[CallFrame] = []
    for frame in scope.frames:
        (taken if scope.holds(cond, frame) else skipped).append(frame)
    return taken, skipped


def draw_branch(
    scope: Scope, suite: Suite, subject: ir.Expr | None = None, cond: ir.Cond | None = None
) -> ir.Stmt | None:
    """An ``if``, maybe with an ``elif`` or ``else``, or a ``match``; it is executed while it is drawn.

    The test is ``cond``, or a test on ``subject``, if one is given.
    """
    if scope.depth >= NESTING or not scope.choose.on("control.if"):
        return None
    if cond is not None:
        conds = [cond] if _decidable(scope, cond) else []
    else:
        conds = conditions(scope) if subject is None else _tensor_conditions(scope, subject)
    if not conds:
        return None
    # Conditions that separate the scenarios make the graphs of two calls differ.
    deciding = [cond for cond in conds if all(split(scope, cond))]
    if deciding and not scope.choose.chance(20):
        conds = deciding
    cond = pick_condition(scope, conds)
    taken, skipped = split(scope, cond)
    then, then_frames = _side(scope, [*taken], skipped, suite)
    orelse: list[ir.Stmt] = []
    if scope.choose.chance(75):
        alike = _twin(scope, then, skipped, taken) if scope.choose.maybe("control.twin", 40) else None
        orelse, skipped = alike or _side(scope, [*skipped], taken, suite)
    if not then:
        return None
    scope.frames[:] = then_frames + skipped
    match = cond.name == "equals" and scope.choose.maybe("control.match", 75)
    return ir.If(cond, tuple(then), tuple(orelse), match)


def _twin(
    scope: Scope, then: list[ir.Stmt], active: list[CallFrame], others: list[CallFrame]
) -> tuple[list[ir.Stmt], list[CallFrame]] | None:
    """Draw the other side of an ``if`` as a copy of the first with one difference; returns as ``_side``."""
    inner = scope.inner(active or [frame.copy() for frame in others])
    body = draw_twin(inner, then) if inner.frames else None
    return None if body is None else (body, inner.frames if active else [])


def _side(
    scope: Scope, active: list[CallFrame], others: list[CallFrame], suite: Suite
) -> tuple[list[ir.Stmt], list[CallFrame]]:
    """Draw one side of an ``if``. If no scenario takes this side, it is drawn on copies of the ``others``."""
    inner = scope.inner(active or [frame.copy() for frame in others])
    body = suite(inner, 1, 2)
    if body and inner.frames and not scope.operator_args and scope.choose.maybe("control.early_return", 40):
        value = [*inner.variables()]
        if value:
            body.append(ir.Return(value[0]))
            inner.frames.clear()
    return body, inner.frames if active else []


def draw_ternary(scope: Scope) -> ir.Stmt | None:
    """``x = a if test else b``."""
    if not scope.choose.on("control.ternary"):
        return None
    conds = conditions(scope)
    near = scope.recent()
    if not conds or near is None:
        return None
    cond = pick_condition(scope, conds)
    names = ("add_one", "double", "neg", "tanh", "add", "t")
    ways = [draw_op(scope, [names], [near], scope.tensors()) or near for _ in range(2)]
    return assign(scope, ir.Ternary(cond, ways[0], ways[1]), near)


def draw_repeat(scope: Scope, suite: Suite) -> ir.Stmt | None:
    """A loop over a range, or with a Python counter."""
    if scope.depth >= NESTING or not scope.choose.on("control.repeat"):
        return None
    counts: list[ir.Expr] = [ir.Lit(2), *scope.flags("int"), *scope.numbers()]
    if scope.choose.on("control.shape"):
        counts += [ir.Measure("rank", var) for var in scope.variables()[:1]]
    count = scope.choose.pick(counts)
    inner = scope.inner(scope.copies())
    var = scope.name().replace("h", "i")
    for frame in inner.frames:
        frame.assign(var, 0)
    body = suite(inner, 1, 1)
    style = "while" if scope.choose.chance(40) else "for"
    return scope.accepted(ir.Repeat(var, count, tuple(body), style)) if body else None


def draw_region(scope: Scope, suite: Suite) -> ir.Stmt | None:
    """A ``with`` block."""
    names = [name for name, spec in REGIONS.items() if not spec.whole and scope.choose.on(f"region.{name}")]
    if not names or scope.depth >= NESTING or scope.operator_args:
        return None
    name = scope.choose.pick(names)
    inner = scope.inner(scope.copies())
    with scope.machine.region(name):
        # The usual purpose of no_grad: to update a parameter or buffer without autograd.
        first = draw_inplace(inner, state=True) if name == "no_grad" and scope.choose.chance(45) else None
        body = _kept(inner.accepted(first))
        # A module that runs with gradients often also runs without: as a target or a teacher.
        # An annotation names a stage of a model: what is in it is mostly a call of a module.
        again = name == "annotate" or (not body and bool(scope.called))
        call = draw_call(inner) if again and scope.choose.chance(80 if name == "annotate" else 50) else None
        body += _kept(inner.accepted(call))
        body += _kept(draw_control(inner, suite) if scope.choose.chance(40) else None)
        body += suite(inner, 1 - len(body), 2 - len(body))
    return scope.accepted(ir.With(name, tuple(body))) if body else None


def _kept(stmt: ir.Stmt | None) -> list[ir.Stmt]:
    return [] if stmt is None else [stmt]


def draw_control(scope: Scope, suite: Suite, writes: bool = False) -> ir.Stmt | None:
    """``torch.cond`` or a similar operator, with local functions that may call submodules and read state.

    With ``writes``, one whose functions may write.
    """
    attempts = (_draw_control(scope, suite, writes) for _ in range(ATTEMPTS))
    return next((stmt for stmt in attempts if stmt is not None), None)


def _draw_control(scope: Scope, suite: Suite, writes: bool) -> ir.Stmt | None:
    names = [
        name for name in CONTROLS if scope.choose.on(f"region.{name}") and CONTROLS[name].writes >= writes
    ]
    if not names or scope.depth >= NESTING or scope.operator_args:
        return None
    name = scope.choose.pick(names)
    spec = CONTROLS[name]
    variables = [var for var in scope.variables() if _takes(scope, var, spec)]
    if not variables:
        return None
    var = scope.choose.mostly_first(variables)
    operand: ir.Expr = var
    if scope.choose.chance(25):
        view = draw_op(scope, [VIEWS], [var], [])
        operand = view if view is not None and _takes(scope, view, spec) else var
    functions: list[ir.LocalFunction] = []
    for index in range(len(spec.arguments)):
        # One submodule in both branches is lifted twice.
        again = functions[0] if functions and scope.choose.chance(85) else None
        function = _function(scope, FUNCTION_NAMES[index], spec, index, operand, suite, again)
        if function is None:
            return None
        functions.append(function)
    stmt = ir.Control(
        name, var.name if scope.choose.chance(70) else scope.name(), (operand,), tuple(functions)
    )
    if not scope.try_out(stmt):
        return None
    scope.read_by_operators.update(attr.path for attr in ir.of_type(tuple(functions), ir.Attr))
    return stmt


def _takes(scope: Scope, expr: ir.Expr, spec: ControlSpec) -> bool:
    """Whether an operator accepts a tensor, judging by its type."""
    values = scope.values(expr)
    return values is not None and all(
        value.type.dtype.startswith(("float", "bfloat"))
        and 0 not in value.type.shape
        and bool(not spec.rows or (value.type.shape and value.type.contiguous))
        for value in values
    )


def _function(
    scope: Scope,
    name: str,
    spec: ControlSpec,
    index: int,
    operand: ir.Expr,
    suite: Suite,
    again: ir.LocalFunction | None,
) -> ir.LocalFunction | None:
    """Draw a local function of an operator; its last argument is the tensor to compute with.

    It begins with the same statement as the function ``again``, if that is given.
    """
    arguments = spec.arguments[index]
    inner = _inside(scope, spec, arguments, operand)
    if inner is None:
        return None
    body = _first_statements(inner, suite, again)
    body += _kept(_draw_state_read(inner, arguments[-1]))
    # A new tensor: a function may not return its arguments.
    result = draw_op(inner, [RESULTS], inner.variables()[:1], [])
    if result is None:
        return None
    returned = ir.Collection("tuple", (spec.carries, result)) if spec.carries is not None else result
    return ir.LocalFunction(name, arguments, (*body, ir.Return(returned)))


def _inside(scope: Scope, spec: ControlSpec, arguments: tuple[str, ...], operand: ir.Expr) -> Scope | None:
    """Return the scope of a local function with these arguments, or None if an operand has no rows."""
    inner = scope.inner(
        scope.copies(),
        operator_args=tuple(name for name in arguments if name != COUNTER),
        operator_writes=spec.writes and not scope.machine.grad_on,
    )
    for frame in inner.frames:
        value = scope.value(operand, frame)
        assert value is not None
        if spec.rows and not value.type.shape:
            return None
        kind = drop(value.type, 0) if spec.rows else value.type
        if spec.closed:
            frame.names.clear()
        for argument in arguments:
            frame.assign(argument, new_tensor(dense((), "int64") if argument == COUNTER else kind))
    return inner


def _first_statements(inner: Scope, suite: Suite, again: ir.LocalFunction | None) -> list[ir.Stmt]:
    """Draw what a local function begins with: a write, the first statement of ``again``, or a call."""
    if inner.operator_writes and inner.choose.maybe("region.written", 60):
        write = inner.accepted(draw_own_write(inner) or draw_inplace(inner))
        if write is not None:
            return [write]
    if again is not None and len(again.body) > 1 and inner.try_out(again.body[0]):
        return [again.body[0]]
    # A branch of a real model is mostly a submodule: an expert, or a block that may be skipped.
    call = inner.accepted(draw_call(inner) if inner.choose.chance(92) else None)
    return [call] if call is not None else suite(inner, 1, 1)


def _draw_state_read(inner: Scope, target: str) -> ir.Stmt | None:
    """Maybe draw ``target = x * self.b``, with a tensor or a Python float of the module."""
    state = [*inner.attributes()]
    rates = inner.rates()
    if not (state or rates) or not inner.choose.chance(60):
        return None
    ways = [*([JOINS_OF_STATE] if state else []), *([FLOAT_OPS] if rates else [])]
    op = draw_op(inner, ways, inner.variables()[:1], state)
    return inner.accepted(ir.Assign(target, op)) if op is not None else None

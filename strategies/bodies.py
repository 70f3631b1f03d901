"""Drawing the body of a method: statement by statement, each tried on the abstract machine first.

A body is drawn under several *scenarios* at once (one Frame for each combination of flag values that is
considered), so that every statement is valid whichever way the Python branches around it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from strategies.machine import CONDS, Frame, Instance, Machine, Ref, resolve
from strategies.ops import OPS, OpSpec, Params, Rejected
from strategies.program import (
    Arg,
    Assign,
    Attr,
    Call,
    ClassDef,
    Cond,
    Do,
    Expr,
    Group,
    If,
    Lit,
    Loop,
    Not,
    Op,
    Path,
    Return,
    Stmt,
    Var,
)
from strategies.swarm import Chooser

NESTING = 2
"""How deep ``if`` statements may nest."""

OPERANDS = 6
"""How many of the tensors in scope are considered as operands, the most recent first."""

LITERALS: dict[str, tuple[bool | int | str | None, ...]] = {
    "bool": (True, False),
    "int": (1, 2, 0, 3),
    "str": ("a", "b", "c"),
    "optional": (None,),
}
"""The Python values that are passed for each kind of argument; scenarios take the first two."""

VIEWS = [name for name, spec in OPS.items() if spec.group == "view"]


@dataclass
class Scope:
    """What the statements drawn next can see: the active scenarios and the method's own arguments."""

    choose: Chooser
    machine: Machine
    args: tuple[Arg, ...]
    frames: list[Frame]
    depth: int = 0
    fresh: list[int] = field(default_factory=lambda: [0])
    called: dict[tuple[Path, str], Expr] = field(default_factory=dict)
    """What was passed last, by callee and argument: calls with other flags are what is interesting."""

    def try_out(self, stmt: Stmt) -> bool:
        """Execute a statement in every scenario, or in none; False where one rejects it."""
        frames = [frame.copy() for frame in self.frames]
        try:
            for frame in frames:
                self.machine.run((stmt,), frame)
        except Rejected:
            return False
        # In place: an enclosing scope may hold the same list.
        self.frames[:] = frames
        return True

    def variables(self) -> list[Var]:
        """Variables that are tensors in every scenario, the most recent first."""
        first, *rest = self.frames
        return [
            Var(name)
            for name in reversed(first.names)
            if isinstance(first.names[name], Ref)
            and all(isinstance(frame.names.get(name), Ref) for frame in rest)
        ]

    def attributes(self) -> list[Attr]:
        """Tensors that hang on self, and on its children where the swarm allows it."""
        deep = self.choose.on("state.read_child")
        return [
            Attr(path)
            for path, value in walk(self.frames[0].owner, 2 if deep else 1)
            if isinstance(value, Ref)
        ]

    def tensors(self) -> list[Expr]:
        """The tensors considered as operands, simplest first."""
        variables: list[Expr] = [*self.variables()]
        return [*variables[:OPERANDS], *self.attributes()[:OPERANDS]]

    def value(self, expr: Expr, frame: Frame) -> Ref | None:
        """The tensor that an operand is in one scenario."""
        try:
            value = self.machine.evaluate(expr, frame)
        except Rejected:
            return None
        return value if isinstance(value, Ref) else None

    def name(self) -> str:
        """A local name that is not in use."""
        self.fresh[0] += 1
        return f"h{self.fresh[0]}"

    def flags(self, kind: str) -> list[Var]:
        """The method's own arguments of a kind, to pass down."""
        return [Var(arg.name) for arg in self.args if arg.kind == kind]


def walk(owner: Instance, depth: int) -> Iterator[tuple[Path, Instance | Ref]]:
    """Everything within ``depth`` attribute steps of a module; steps into containers are free."""
    for step, value in owner.attrs.items():
        yield (step,), value
        if isinstance(value, Instance):
            inner = depth if isinstance(value.kind, str) else depth - 1
            if inner > 0:
                for path, found in walk(value, inner):
                    yield (step, *path), found


# --- ops --------------------------------------------------------------------------------


def _uses(scope: Scope, name: str, spec: OpSpec, firsts: list[Expr], seconds: list[Expr]) -> list[Op]:
    """Every application of an op to these operands that each scenario accepts."""
    found = []
    for first in firsts:
        refs = [scope.value(first, frame) for frame in scope.frames]
        known = [ref for ref in refs if ref is not None]
        if len(known) < len(refs) or (spec.mutates and any(r.storage.leaf for r in known)):
            continue
        others: list[Expr | None] = [*seconds] if spec.arity == 2 else [None]
        for params in spec.choices(known[:1]):
            for second in others:
                if _fits(scope, spec, known, second, params):
                    operands = (first,) if second is None else (first, second)
                    found.append(Op(name, operands, params))
    return found


def _fits(scope: Scope, spec: OpSpec, firsts: list[Ref], second: Expr | None, params: Params) -> bool:
    for frame, first in zip(scope.frames, firsts, strict=True):
        operands = [first]
        if second is not None:
            other = scope.value(second, frame)
            if other is None:
                return False
            operands.append(other)
        try:
            spec.rule(operands, params)
        except Rejected:
            return False
    return True


def _draw_use(scope: Scope, names: list[str], firsts: list[Expr], seconds: list[Expr]) -> Op | None:
    """Draw an op and its operands; None where the drawn op has no use here."""
    name = scope.choose.pick(names)
    uses = _uses(scope, name, OPS[name], firsts, seconds)
    return scope.choose.pick(uses) if uses else None


def _enabled(scope: Scope, mutating: bool) -> list[str]:
    return [
        name
        for name, spec in OPS.items()
        if bool(spec.mutates) is mutating and scope.choose.on(f"op.{spec.group}")
    ]


def _assign_op(scope: Scope) -> Stmt | None:
    names = ["add_one", *_enabled(scope, mutating=False)]
    op = _draw_use(scope, names, _recent(scope), scope.tensors())
    numbers = scope.flags("int")
    if op is not None and OPS[op.name].integer:
        options: list[Expr] = [*numbers, Lit(2)]
        number = scope.choose.pick(options)
        op = Op(op.name, (*op.operands, number), op.params)
    return None if op is None else _assign(scope, op, op.operands[0])


def _recent(scope: Scope) -> list[Expr]:
    """Mostly just the newest variable: code whose results are used finds more than dead code."""
    tensors = scope.tensors()
    return tensors if scope.choose.chance(30) else tensors[:1]


def _assign(scope: Scope, value: Expr, near: Expr) -> Assign:
    """Bind a result to the operand's own name, or to a new one."""
    reuse = isinstance(near, Var) and not scope.choose.chance(5 if scope.depth else 30)
    return Assign(near.name if reuse and isinstance(near, Var) else scope.name(), value)


def _targets(scope: Scope) -> list[Expr]:
    """The tensors that an in-place op may change, as the swarm allows."""
    mine = {arg.name for arg in scope.args}
    targets: list[Expr] = []
    for var in scope.variables()[:OPERANDS]:
        if scope.choose.on("inplace.on_argument" if var.name in mine else "inplace.on_local"):
            targets.append(var)
    if scope.choose.on("inplace.on_state"):
        targets += scope.attributes()[:OPERANDS]
    return targets


def _inplace_op(scope: Scope) -> Stmt | None:
    names = _enabled(scope, mutating=True)
    targets = _targets(scope)
    if not names or not targets:
        return None
    name = scope.choose.pick(names)
    spec = OPS[name]
    if spec.mutates == "value" and scope.choose.on("inplace.on_view") and scope.choose.chance(40):
        view = _draw_use(scope, VIEWS, targets, [])
        targets = targets if view is None else [view]
    uses = _uses(scope, name, spec, targets, scope.tensors())
    if not uses:
        return None
    op = scope.choose.pick(uses)
    if spec.statement or not scope.choose.chance(20):
        return Do(op)
    return Assign(scope.name(), op)


# --- calls ------------------------------------------------------------------------------


def _callable(value: Instance | Ref) -> bool:
    return isinstance(value, Instance) and (not isinstance(value.kind, str) or value.kind == "Sequential")


def _call(scope: Scope) -> Stmt | None:
    reach = 3 if scope.choose.on("calls.deep") else 1
    callees = [path for path, value in walk(scope.frames[0].owner, reach) if _callable(value)]
    if not callees:
        return None
    again = [path for path in callees if (path, "") in scope.called]
    if again and scope.choose.on("calls.again") and scope.choose.chance(75):
        callees = again
    path = scope.choose.pick(callees)
    callee = resolve(scope.frames[0].owner, path)
    assert isinstance(callee, Instance)
    tensors = scope.tensors()
    if not tensors:
        return None
    first = scope.choose.pick(_recent(scope))
    args: list[Expr] = [first]
    kwargs: list[tuple[str, Expr]] = []
    positional = True
    for arg in callee.kind.args[1:] if isinstance(callee.kind, ClassDef) else ():
        value = _argument(scope, arg, tensors, scope.called.get((path, arg.name)))
        # What follows an omitted argument can only go by keyword.
        if value is None or (scope.choose.on("calls.keyword") and scope.choose.chance(40)):
            positional = False
        if value is None:
            continue
        if positional:
            args.append(value)
        else:
            kwargs.append((arg.name, value))
        scope.called[path, arg.name] = value
    scope.called[path, ""] = first
    call = Call(path, tuple(args), tuple(kwargs))
    if scope.choose.on("calls.dropped") and scope.choose.chance(25):
        return Do(call)
    return _assign(scope, call, first)


def _argument(scope: Scope, arg: Arg, tensors: list[Expr], last: Expr | None) -> Expr | None:
    """What a call passes for one argument, mostly not the ``last`` value; None leaves it to its default.

    The Python value None is ``Lit(None)``.
    """
    if arg.default is not None and scope.choose.chance(30):
        return None
    if arg.kind == "tensor":
        return scope.choose.pick(tensors)
    if arg.kind == "optional":
        return scope.choose.pick([*tensors, Lit(None)]) if scope.choose.chance(70) else None
    mine = scope.flags(arg.kind) if scope.choose.on("calls.pass_down") else []
    options: list[Expr] = [Lit(value) for value in LITERALS[arg.kind]]
    if mine and scope.choose.chance(85):
        options = [*mine, *(Not(flag) for flag in mine if arg.kind == "bool")]
    if last in options and len(options) > 1 and not scope.choose.chance(30):
        options.remove(last)
    return scope.choose.pick(options)


def _loop(scope: Scope) -> Stmt | None:
    boxes = [
        path
        for path, value in walk(scope.frames[0].owner, 1)
        if isinstance(value, Instance) and value.kind in ("ModuleList", "Sequential")
    ]
    variables = scope.variables()
    if not boxes or not variables or not scope.choose.on("control.loop"):
        return None
    box, target = scope.choose.pick(boxes), scope.choose.pick(variables)
    flags: list[Expr] = [*scope.flags("bool"), Lit(False)]
    args = (scope.choose.pick(flags),) if scope.choose.chance(30) else ()
    return Loop(box, target.name, args)


# --- branches ---------------------------------------------------------------------------


def _conditions(scope: Scope) -> list[Cond]:
    """The conditions that every scenario can decide, those on arguments first."""
    found: list[Cond] = []
    for arg in scope.args:
        for name, spec in CONDS.items():
            if arg.kind in spec.kinds:
                values = LITERALS[arg.kind][:2] if name == "equals" else (None,)
                found += [Cond(name, Var(arg.name), () if v is None else (v,)) for v in values]
    if scope.choose.on("control.training"):
        found.append(Cond("training"))
    if scope.choose.on("control.shape"):
        for var in scope.variables()[:2]:
            found += [Cond("size", var, (n,)) for n in (1, 2)]
            found += [Cond("rank", var, (n,)) for n in (2, 1)]
            found.append(Cond("contiguous", var))
    return [cond for cond in found if _decidable(scope, cond)]


def _decidable(scope: Scope, cond: Cond) -> bool:
    try:
        for frame in scope.frames:
            scope.machine.holds(cond, frame)
    except Rejected:
        return False
    return True


def _branch(scope: Scope) -> Stmt | None:
    if scope.depth >= NESTING or not scope.choose.on("control.if"):
        return None
    conds = _conditions(scope)
    if not conds:
        return None
    cond = scope.choose.pick(conds)
    taken = [frame for frame in scope.frames if scope.machine.holds(cond, frame)]
    skipped = [frame for frame in scope.frames if not scope.machine.holds(cond, frame)]
    then, then_frames = _suite(scope, [*taken], skipped)
    orelse: list[Stmt] = []
    if scope.choose.chance(75):
        orelse, skipped = _suite(scope, [*skipped], taken)
    if not then:
        return None
    scope.frames[:] = then_frames + skipped
    return If(cond, tuple(then), tuple(orelse))


def _suite(scope: Scope, active: list[Frame], others: list[Frame]) -> tuple[list[Stmt], list[Frame]]:
    """Draw one side of an ``if``; a side that no scenario takes is drawn as if the others took it."""
    frames = active or [frame.copy() for frame in others]
    inner = Scope(scope.choose, scope.machine, scope.args, frames, scope.depth + 1, scope.fresh, scope.called)
    body = draw_statements(inner, 2 if scope.choose.chance(30) else 1)
    if body and scope.choose.on("control.early_return") and scope.choose.chance(40) and inner.frames:
        value = draw_result(inner)
        if value is not None:
            body.append(Return(value))
            inner.frames.clear()
    return body, inner.frames if active else []


# --- bodies -----------------------------------------------------------------------------

Maker = Callable[[Scope], Stmt | None]


def draw_statements(scope: Scope, count: int) -> list[Stmt]:
    """Draw up to ``count`` statements; each was accepted by every scenario that reaches it."""
    body: list[Stmt] = []
    if scope.depth == 0 and not scope.choose.chance(10):
        opening = scope.choose.pick(_openings(scope))(scope) or _tried(_call)(scope)
        if opening is not None:
            body.append(opening)
    for _ in range(count):
        if not scope.frames:
            break
        stmt = _draw_statement(scope)
        if stmt is not None:
            body.append(stmt)
    return body


def _openings(scope: Scope) -> list[Maker]:
    """What a body mostly begins with.

    A child that is never called, or a flag that is never read, tests little. Who has children that take
    flags mostly leaves the branching to them: that is how a flag reaches through several levels.
    """
    branches = 0
    if any(arg.kind != "tensor" for arg in scope.args):
        branches = 1 if _flagged_children(scope) else 5
    return [_tried(_call), _tried(_call), _tried(_loop), *([_branch] * branches)]


def _flagged_children(scope: Scope) -> bool:
    kinds = [value.kind for _, value in walk(scope.frames[0].owner, 1) if isinstance(value, Instance)]
    return any(
        arg.kind in ("bool", "int", "str")
        for kind in kinds
        if isinstance(kind, ClassDef)
        for arg in kind.args
    )


def _tried(maker: Maker) -> Maker:
    """A maker whose statements are executed in every scenario, or dropped."""

    def make(scope: Scope) -> Stmt | None:
        stmt = maker(scope)
        return stmt if stmt is not None and scope.try_out(stmt) else None

    return make


def _draw_statement(scope: Scope) -> Stmt | None:
    makers = _NESTED_MAKERS if scope.depth else _MAKERS
    return scope.choose.pick(makers)(scope) or _plain(scope)


_plain = _tried(_assign_op)


# Weighted by repetition, simplest first. A branch executes its statements while it draws them.
_MAKERS: list[Maker] = [
    *[_plain] * 2,
    *[_tried(_call)] * 6,
    *[_tried(_inplace_op)] * 3,
    *[_branch] * 2,
    _tried(_loop),
]

# Branches mostly decide on who is called: that is where the graphs of two calls come to differ.
_NESTED_MAKERS: list[Maker] = [
    _plain,
    *[_tried(_call)] * 5,
    _tried(_inplace_op),
    _branch,
]


def draw_result(scope: Scope) -> Expr | None:
    """The tensor that a method returns: mostly the most recent one."""
    tensors: list[Expr] = [*scope.variables()[:3]]
    if not scope.choose.chance(20):
        return tensors[0] if tensors else None
    if scope.choose.on("output.state"):
        tensors += scope.attributes()[:2]
    return scope.choose.pick(tensors) if tensors else None


def draw_outputs(scope: Scope) -> Expr | None:
    """What the root module returns: a tensor, a tuple or a dict."""
    first = draw_result(scope)
    if first is None:
        return None
    more: list[Expr] = [*scope.variables()[:OPERANDS]]
    if scope.choose.on("output.argument"):
        more += [var for var in scope.variables() if any(a.name == var.name for a in scope.args)]
    if scope.choose.on("output.state"):
        more += scope.attributes()[:OPERANDS]
    if scope.choose.on("output.dict") and scope.choose.chance(50):
        items = (first, *(scope.choose.pick(more) for _ in range(scope.choose.upto(2))))
        return Group(items, tuple("pqr"[: len(items)]))
    if scope.choose.on("output.tuple") and scope.choose.chance(60):
        return Group((first, *(scope.choose.pick(more) for _ in range(scope.choose.upto(2)))))
    return first

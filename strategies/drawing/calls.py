"""Drawing calls: of submodules and their methods, of functions passed in, and loops over containers."""

from __future__ import annotations

from strategies.drawing.arguments import in_some_order
from strategies.drawing.operations import assign
from strategies.drawing.scope import Scope, class_of, containers, modules, walk
from strategies.drawing.values import LITERALS, group_keys
from strategies.layers import LAYERS
from strategies.program import (
    FUNCTIONS,
    Apply,
    Arg,
    Bound,
    Call,
    Do,
    Expr,
    Function,
    Group,
    Lit,
    Loop,
    New,
    Not,
    Path,
    Slice,
    Star,
    Stmt,
    Var,
)
from strategies.values import Instance, Value


def draw_call(scope: Scope) -> Stmt | None:
    """A call of a child, or of something deeper down."""
    reach = 3 if scope.choose.on("calls.deep") else 1
    callees = [
        path
        for path, value in walk(scope.frames[0].owner, reach)
        if isinstance(value, Instance) and _called(value)
    ]
    if not callees:
        return None
    owner = scope.frames[0].owner
    again = [path for path in callees if _first_name(scope, _at(owner, path))]
    if again and scope.choose.maybe("calls.again", 75):
        callees = again
    path = scope.choose.pick(callees)
    callee = _at(owner, path)
    sliced = (
        callee.kind == "Sequential" and len(callee.attrs) > 1 and scope.choose.maybe("hierarchy.slice", 60)
    )
    if sliced:
        first = scope.recent()
        return None if first is None else _dropped(scope, Call((*path, Slice(0, 1)), (first,)))
    return _draw_call_of(scope, path, callee)


def _called(value: Instance) -> bool:
    return not isinstance(value.kind, str) or value.kind == "Sequential"


def _at(owner: Instance, path: Path) -> Instance:
    value: Value = owner
    for step in path:
        assert isinstance(value, Instance)
        assert not isinstance(step, Slice)
        value = value.attrs[step]
    assert isinstance(value, Instance)
    return value


def _draw_call_of(scope: Scope, path: Path, callee: Instance) -> Stmt | None:
    first = scope.recent()
    if first is None:
        return None
    mine = _state_of(scope, callee)
    if mine and scope.choose.maybe("calls.own_state", 25):
        first = scope.choose.pick(mine)
    cls = class_of(callee)
    form = LAYERS[callee.kind.name].form if isinstance(callee.kind, New) else ""
    if scope.choose.maybe("region.checkpoint", 30) and not scope.pure:
        form = form or "checkpoint"
    method = ""
    parameters = cls.args if cls is not None else ()
    if cls is not None and not form:
        if cls.methods and scope.choose.maybe("calls.method", 60):
            chosen = scope.choose.pick(cls.methods)
            method, parameters = chosen.name, chosen.args
        elif scope.choose.maybe("calls.forward", 25):
            method = "forward"
    name = _first_name(scope, callee) or path
    args, kwargs = _draw_arguments(scope, name, parameters, first)
    if form == "checkpoint" and kwargs:
        form = ""
    scope.called[name, ""] = first
    return _dropped(scope, Call(path, args, kwargs, method, form), first)


def _first_name(scope: Scope, callee: Instance) -> Path:
    """The path by which a module was called first; empty if it was not."""
    owner = scope.frames[0].owner
    return next((path for path, arg in scope.called if not arg and _at(owner, path) is callee), ())


def _state_of(scope: Scope, callee: Instance) -> list[Expr]:
    """The tensors of a module, under each name that it has."""
    owner = scope.frames[0].owner
    return [
        attr for attr in scope.attributes() if len(attr.path) > 1 and _at(owner, attr.path[:-1]) is callee
    ]


def _dropped(scope: Scope, call: Call, near: Expr | None = None) -> Stmt:
    if scope.choose.maybe("calls.dropped", 30):
        return Do(call)
    first = call.args[0] if call.args else None
    return assign(scope, call, near or (first if isinstance(first, Var) else Lit(None)))


def _draw_arguments(
    scope: Scope, path: Path, parameters: tuple[Arg, ...], first: Expr
) -> tuple[tuple[Expr | Star, ...], tuple[tuple[str, Expr], ...]]:
    """What a call passes, by position as far as that goes."""
    args: list[Expr | Star] = [first]
    kwargs: list[tuple[str, Expr]] = []
    positional = True
    for arg in parameters[1:]:
        if arg.kind == "rest":
            if positional:
                args += _draw_rest(scope)
            continue
        if arg.kind == "options":
            continue
        value = _draw_argument(scope, arg, scope.called.get((path, arg.name)))
        # What follows an omitted argument can only go by keyword.
        if value is None or scope.choose.maybe("calls.keyword", 40):
            positional = False
        given = value if value is not None else arg.default
        if given is not None:
            scope.called[path, arg.name] = given
        if value is None:
            continue
        if positional:
            args.append(value)
        else:
            kwargs.append((arg.name, value))
    if any(arg.kind == "options" for arg in parameters):
        mine = scope.flags("options")
        if mine and scope.choose.chance(60):
            args.append(Star(mine[0], double=True))
        elif scope.choose.chance(60):
            kwargs.append(("scale", scope.choose.pick(scope.tensors())))
            if scope.choose.chance(30):
                kwargs.append(("offset", scope.choose.pick(scope.tensors())))
    return tuple(args), in_some_order(scope.choose, kwargs)


def _draw_rest(scope: Scope) -> list[Expr | Star]:
    mine = scope.flags("rest")
    if mine and scope.choose.chance(60):
        return [Star(mine[0])]
    return [scope.choose.pick(scope.tensors())] if scope.choose.chance(60) else []


def _draw_argument(scope: Scope, arg: Arg, last: Expr | None) -> Expr | None:
    """What a call passes for one argument, mostly not the ``last`` value; None leaves it to its default.

    The Python value None is ``Lit(None)``.
    """
    choose = scope.choose
    if arg.default is not None and arg.default != last and choose.chance(30):
        return None
    if arg.kind == "tensor":
        return choose.pick(scope.tensors())
    if arg.kind == "optional":
        return choose.pick([*scope.tensors(), Lit(None)]) if choose.chance(70) else None
    if arg.kind == "function":
        return choose.pick(_functions(scope))
    if arg.kind in ("tuple", "list", "dict", "named", "data"):
        return _draw_group(scope, arg.kind)
    if arg.kind == "either":
        return choose.pick(scope.tensors()) if choose.chance(50) else _draw_group(scope, "tuple")
    mine = scope.flags(arg.kind) if choose.on("calls.pass_down") else []
    literals = LITERALS[arg.kind]
    # Mostly the values that branches ask for.
    options: list[Expr] = [Lit(value) for value in (literals if choose.chance(20) else literals[:2])]
    if mine and choose.chance(85):
        options = [*mine, *(Not(flag) for flag in mine if arg.kind == "bool")]
    if last in options and len(options) > 1 and not choose.chance(15):
        options.remove(last)
    return choose.pick(options)


def _functions(scope: Scope) -> list[Expr]:
    """Callables to hand over: functions of torch, children, methods of children, what came in."""
    found: list[Expr] = [Function(name) for name in FUNCTIONS]
    bound: list[Expr] = []
    for path, module in modules(scope.frames[0].owner, 1):
        cls = class_of(module)
        if cls is not None and len([arg for arg in cls.args if arg.default is None]) == 1:
            bound += [Bound(path), Bound(path, "forward"), *(Bound(path, m.name) for m in cls.methods)]
    if bound and scope.choose.chance(70):
        found = bound
    return [*scope.callables(), *found]


def _draw_group(scope: Scope, kind: str) -> Expr:
    boxes = scope.boxes(kind)
    if boxes and scope.choose.chance(50):
        return scope.choose.pick(boxes)
    tensors = scope.tensors()
    items = (scope.choose.pick(tensors), scope.choose.pick(tensors))
    return Group(kind, items, group_keys(kind))


def draw_apply(scope: Scope) -> Stmt | None:
    """A call of a function that was passed in."""
    functions = scope.callables()
    first = scope.recent()
    if not functions or first is None:
        return None
    return assign(scope, Apply(scope.choose.pick(functions), (first,)), first)


def draw_own_method(scope: Scope) -> Stmt | None:
    """``self.method(x)``."""
    first = scope.recent()
    if not scope.methods or first is None:
        return None
    name = scope.choose.pick(scope.methods)
    cls = class_of(scope.frames[0].owner)
    parameters = scope.args if name == "forward" else ()
    for method in cls.methods if cls is not None else ():
        if method.name == name:
            parameters = method.args
    args, kwargs = _draw_arguments(scope, (), parameters, first)
    return assign(scope, Call((), args, kwargs, name), first)


def draw_loop(scope: Scope) -> Stmt | None:
    """A loop over the children in a container."""
    found = [*containers(scope.frames[0].owner, ("ModuleList", "Sequential", "ModuleDict"))]
    variables = scope.variables()
    if not found or not variables or not scope.choose.on("control.loop"):
        return None
    path, box = scope.choose.pick(found)
    target = scope.choose.pick(variables)
    flags: list[Expr] = [*scope.flags("bool"), Lit(False)]
    args = (scope.choose.pick(flags),) if scope.choose.chance(20) else ()
    if box.kind == "ModuleDict":
        return Loop(path, target.name, args, scope.choose.pick(("values", "items")))
    if len(box.attrs) > 1 and scope.choose.maybe("hierarchy.slice", 60):
        path = (*path, scope.choose.pick((Slice(0, 1), Slice(1, len(box.attrs)))))
    return Loop(path, target.name, args, "enumerate" if scope.choose.chance(20) else "")

"""Drawing calls of submodules and their methods, calls of functions passed in, and loops over containers."""

from __future__ import annotations

from functools import partial

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import collection_keys
from exportdiff_strategies.drawing.arguments import in_some_order
from exportdiff_strategies.drawing.flows import write_returned
from exportdiff_strategies.drawing.modules import class_of, containers, module_at, modules, walk
from exportdiff_strategies.drawing.operations import assign, draw_op, enabled
from exportdiff_strategies.drawing.python_values import literals
from exportdiff_strategies.drawing.scope import Scope
from exportdiff_strategies.drawing.state import draw_handover
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.values import Instance


def draw_call(scope: Scope) -> ir.Stmt | None:
    """A call of a child, or of a module further down."""
    family = _family(scope)
    reach = 3 if family or scope.choose.on("calls.deep") else 1
    callees = [
        path
        for path, value in walk(scope.frames[0].owner, reach)
        if isinstance(value, Instance) and _is_callable(value)
    ]
    if scope.choose.maybe("update.hand_over", 60):
        given = draw_handover(scope)
        if given is not None:
            scope.pending.append(partial(_draw_handed, path=given.path[:-1]))
            return given
    if not callees:
        return None
    owner = scope.frames[0].owner
    again = [path for path in callees if _first_path(scope, module_at(owner, path))]
    related = [path for path in callees if _related(path, family)]
    if related and scope.choose.chance(80):
        callees = related
    elif again and scope.choose.maybe("calls.again", 80):
        callees = again
    path = scope.choose.pick(callees)
    callee = module_at(owner, path)
    sliced = (
        callee.kind == "Sequential" and len(callee.attrs) > 1 and scope.choose.maybe("hierarchy.slice", 60)
    )
    if sliced:
        first = scope.recent()
        if first is None:
            return None
        call = ir.CallModule((*path, ir.Slice(0, 1)), (first,))
        return ir.Do(call) if _drops_result(scope, False) else assign(scope, call, first)
    return _draw_call_of(scope, path, callee)


def _draw_handed(scope: Scope, path: ir.AttributePath) -> ir.Stmt | None:
    """A call of a child, after a statement that has set an attribute of that child."""
    return scope.accepted(_draw_call_of(scope, path, module_at(scope.frames[0].owner, path), bare=True))


def in_family(scope: Scope) -> bool:
    """Whether the calls of this body keep to one module and to the modules above and below it."""
    return bool(_family(scope))


def _family(scope: Scope) -> ir.AttributePath:
    """The path of the module that was called first, if other calls should keep to it; else empty."""
    first = next((path for path, argument in scope.called if not argument), ())
    return first if first and scope.choose.on("calls.family") else ()


def _related(path: ir.AttributePath, family: ir.AttributePath) -> bool:
    """Whether one of the two paths leads to the other; nothing is related to the empty path."""
    return bool(family) and (path[: len(family)] == family or family[: len(path)] == path)


def _is_callable(value: Instance) -> bool:
    return not isinstance(value.kind, str) or value.kind == "Sequential"


def _draw_call_of(
    scope: Scope, path: ir.AttributePath, callee: Instance, bare: bool = False
) -> ir.Stmt | None:
    """A call of a module or of a method; with ``bare``, of the module itself, with its result used."""
    first = scope.recent()
    if first is None:
        return None
    mine = _state_of(scope, callee)
    if mine and scope.choose.maybe("calls.own_state", 25):
        first = scope.choose.pick(mine)
    cls = class_of(callee)
    form = LAYERS[callee.kind.name].form if isinstance(callee.kind, ir.New) else ""
    if scope.choose.maybe("region.checkpoint", 95 if scope.operator_args else 45):
        form = form or "checkpoint"
    method = ""
    parameters = cls.args if cls is not None else ()
    if cls is not None and not form and not bare:
        if cls.methods and scope.choose.maybe("calls.method", 60):
            chosen = scope.choose.pick(cls.methods)
            method, parameters = chosen.name, chosen.args
        elif scope.choose.maybe("calls.forward", 25):
            method = "forward"
    written = _written_state(callee)
    silent = cls is not None and method in ("", "forward") and not ir.of_type(cls.body, ir.Return)
    drops = silent or (not bare and _drops_result(scope, bool(written)))
    if form in ("", "checkpoint") and not silent:
        given = _computed(scope, first, 70 if drops else 30)
    else:
        given = first  # what is written to something new is lost
    name = _first_path(scope, callee) or path
    args, kwargs = _draw_arguments(scope, name, parameters, given)
    if form == "checkpoint" and kwargs:
        form = ""
    scope.called[name, ""] = first
    scope.written_state[:] = [ir.Attr((*path, *attr.path)) for attr in written] or scope.written_state
    call = ir.CallModule(path, args, kwargs, method, form)
    if drops:
        return ir.Do(call)
    stmt = assign(scope, call, first)
    if not method and not form:
        write_returned(scope, callee, stmt.target)
    return stmt


def _drops_result(scope: Scope, writes: bool) -> bool:
    """Whether to ignore the result: mostly if the call ``writes``, or is the first call of a family."""
    if scope.choose.maybe("calls.dropped", 60 if writes else 20):
        return True
    return not scope.called and scope.choose.maybe("calls.family", 40)


def _written_state(module: Instance) -> list[ir.Attr]:
    """The attributes of a module that the module's own code changes in place."""
    cls = class_of(module)
    if cls is None:
        norm = isinstance(module.kind, ir.New) and module.kind.name.startswith("batch_norm")
        return [ir.Attr(("running_mean",))] if norm else []
    targets = [op.operands[0] for op in ir.of_type(cls.body, ir.Op) if OPS[op.name].mutates]
    return [target for target in targets if isinstance(target, ir.Attr)]


def _computed(scope: Scope, first: ir.Expr, percent: int) -> ir.Expr:
    """The first argument of a call: a tensor as it is or, in ``percent`` percent, an expression."""
    if not scope.choose.maybe("calls.expression", percent):
        return first
    return draw_op(scope, [*enabled(scope, mutating=False), EASY], [first], scope.tensors()[:3]) or first


EASY = ("add_one", "double", "neg", "mul", "add", "sub")
"""Ops that accept whatever a child accepts."""


def _first_path(scope: Scope, callee: Instance) -> ir.AttributePath:
    """The path by which a module was called first; empty if it was not called."""
    owner = scope.frames[0].owner
    return next((path for path, arg in scope.called if not arg and module_at(owner, path) is callee), ())


def _state_of(scope: Scope, callee: Instance) -> list[ir.Expr]:
    """The tensors of a module, under all of their names."""
    owner = scope.frames[0].owner
    return [
        attr
        for attr in scope.attributes()
        if len(attr.path) > 1 and module_at(owner, attr.path[:-1]) is callee
    ]


def _draw_arguments(
    scope: Scope, path: ir.AttributePath, parameters: tuple[ir.Arg, ...], first: ir.Expr
) -> tuple[tuple[ir.Expr | ir.Star, ...], tuple[tuple[str, ir.Expr], ...]]:
    """The arguments of a call, by position as far as possible."""
    args: list[ir.Expr | ir.Star] = [first]
    kwargs: list[tuple[str, ir.Expr]] = []
    positional = True
    for arg in parameters[1:]:
        if arg.kind == "rest":
            if positional:
                args += _draw_rest(scope)
            continue
        if arg.kind == "options":
            continue
        value = _draw_argument(scope, arg, scope.called.get((path, arg.name)))
        # After an omitted argument, all others must be passed by keyword.
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
            args.append(ir.Star(mine[0], double=True))
        elif scope.choose.chance(60):
            kwargs.append(("scale", scope.choose.pick(scope.tensors())))
            if scope.choose.chance(30):
                kwargs.append(("offset", scope.choose.pick(scope.tensors())))
    return tuple(args), in_some_order(scope.choose, kwargs)


def _draw_rest(scope: Scope) -> list[ir.Expr | ir.Star]:
    mine = scope.flags("rest")
    if mine and scope.choose.chance(60):
        return [ir.Star(mine[0])]
    return [scope.choose.pick(scope.tensors())] if scope.choose.chance(60) else []


def _draw_argument(scope: Scope, arg: ir.Arg, last: ir.Expr | None) -> ir.Expr | None:
    """The value that a call passes for one argument, mostly other than the ``last`` value.

    None leaves the argument to its default; the Python value None is ``Lit(None)``.
    """
    choose = scope.choose
    if arg.default is not None and arg.default != last and choose.chance(30):
        return None
    if arg.kind == "tensor":
        return choose.pick(scope.tensors())
    if arg.kind == "optional":
        return choose.pick([*scope.tensors(), ir.Lit(None)]) if choose.chance(70) else None
    if arg.kind == "function":
        return choose.pick(_functions(scope))
    if arg.kind in ("tuple", "list", "dict", "named", "data"):
        return _draw_group(scope, arg.kind)
    if arg.kind == "either":
        return choose.pick(scope.tensors()) if choose.chance(50) else _draw_group(scope, "tuple")
    mine = scope.flags(arg.kind) if choose.on("calls.pass_down") else []
    values = literals(choose, arg.kind)
    # Mostly the values that branches test for.
    options: list[ir.Expr] = [ir.Lit(value) for value in (values if choose.chance(20) else values[:2])]
    if mine and choose.chance(90):
        options = [*mine, *(ir.Not(flag) for flag in mine if arg.kind == "bool")]
    if last in options and len(options) > 1 and not choose.chance(8):
        options.remove(last)
    return choose.pick(options)


def _functions(scope: Scope) -> list[ir.Expr]:
    """Callables to pass on: functions of torch, children and their methods, and callables passed in."""
    found: list[ir.Expr] = [ir.Function(name) for name in ir.FUNCTIONS]
    bound: list[ir.Expr] = []
    for path, module in modules(scope.frames[0].owner, 1):
        cls = class_of(module)
        if cls is not None and len([arg for arg in cls.args if arg.default is None]) == 1:
            bound += [
                ir.ModuleOrMethod(path),
                ir.ModuleOrMethod(path, "forward"),
                *(ir.ModuleOrMethod(path, m.name) for m in cls.methods),
            ]
    if bound and scope.choose.chance(85):
        found = bound
    return [*scope.callables(), *found]


def _draw_group(scope: Scope, kind: str) -> ir.Expr:
    boxes = scope.boxes(kind)
    if boxes and scope.choose.chance(50):
        return scope.choose.pick(boxes)
    tensors = scope.tensors()
    items = (scope.choose.pick(tensors), scope.choose.pick(tensors))
    return ir.Collection(kind, items, collection_keys(kind))


def draw_apply(scope: Scope) -> ir.Stmt | None:
    """A call of a function that was passed in."""
    functions = scope.callables()
    first = scope.recent()
    if not functions or first is None:
        return None
    return assign(scope, ir.CallVariable(scope.choose.pick(functions), (first,)), first)


def draw_own_method(scope: Scope) -> ir.Stmt | None:
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
    return assign(scope, ir.CallModule((), args, kwargs, name), first)


def draw_loop(scope: Scope) -> ir.Stmt | None:
    """A loop over the children in a container."""
    kinds = ("ModuleList", "Sequential", "ModuleDict", "list", "dict")
    found = [
        (path, box)
        for path, box in containers(scope.frames[0].owner, kinds)
        if all(isinstance(item, Instance) for item in box.attrs.values())
    ]
    variables = scope.variables()
    if not found or not variables or not scope.choose.on("control.loop"):
        return None
    path, box = scope.choose.pick(found)
    target = scope.choose.pick(variables)
    flags: list[ir.Expr] = [*scope.flags("bool"), ir.Lit(False)]
    args = (scope.choose.pick(flags),) if scope.choose.chance(20) else ()
    if box.kind in ("ModuleDict", "dict"):
        return ir.Loop(path, target.name, args, scope.choose.pick(("values", "items")))
    if len(box.attrs) > 1 and box.kind != "list" and scope.choose.maybe("hierarchy.slice", 60):
        path = (*path, scope.choose.pick((ir.Slice(0, 1), ir.Slice(1, len(box.attrs)))))
    return ir.Loop(path, target.name, args, "enumerate" if scope.choose.chance(20) else "")

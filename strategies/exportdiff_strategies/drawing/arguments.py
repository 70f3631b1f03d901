"""Drawing the arguments of a method, the scenarios for them, and the model's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from exportdiff_strategies import program as ir
from exportdiff_strategies.constants import COLLECTIONS, LITERALS, ODD_TEXTS, collection_keys
from exportdiff_strategies.drawing.python_values import draw_input_value, keys_of, literals
from exportdiff_strategies.drawing.style import SECOND_DTYPES, Style
from exportdiff_strategies.machine import FUEL, new_tensor
from exportdiff_strategies.swarm import Chooser
from exportdiff_strategies.types import dense, inexact
from exportdiff_strategies.values import CallFrame, CollectionValue, Instance, TorchFunction, Value

T = TypeVar("T")

SCENARIOS = 3
"""The number of combinations of argument values that a body is drawn under."""

OPTIONS = ("scale", "offset")
"""The names of the arguments for ``**options``."""

_FLAGS = (
    ("flag", "bool"),
    ("n", "int"),
    ("mode", "str"),
    ("limit", "float"),
    ("kind", "enum"),
    ("size", "size"),
)


def draw_args(choose: Chooser, below: set[str], flags: int = 60, root: bool = False) -> tuple[ir.Arg, ...]:
    """``x``, maybe further tensors, and (in ``flags`` percent) flags; those with a default come last.

    ``below`` are the kinds that children take: with these, a flag often reaches through several levels.
    """
    args = [ir.Arg("x", "tensor")]
    if choose.maybe("calls.second_tensor", 40):
        args.append(ir.Arg("y", "tensor"))
    if choose.maybe("input.group" if root else "calls.group", 50):
        args.append(ir.Arg("parts", choose.pick(COLLECTIONS)))
    if not root and choose.maybe("calls.function", 50):
        args.append(ir.Arg("fn", "function"))
    if not root and choose.maybe("calls.either", 50):
        args.append(ir.Arg("either", "either"))
    for name, kind in _FLAGS:
        if choose.maybe(f"calls.{kind}", 90 if kind in below else flags):
            default = ir.Lit(choose.pick(LITERALS[kind][:2]))
            # After an argument with a default, all arguments need one.
            wanted = choose.chance(40) or args[-1].default is not None
            args.append(ir.Arg(name, kind, default if wanted else None))
    if choose.maybe("calls.optional", 50):
        args.append(ir.Arg("bias", "optional", ir.Lit(None)))
    if choose.maybe("calls.rest", 50):
        args.append(ir.Arg("rest", "rest"))
    if choose.maybe("calls.options", 50):
        args.append(ir.Arg("options", "options"))
    return tuple(args)


def scenarios(owner: Instance, args: Sequence[ir.Arg], style: Style, same: bool = False) -> list[CallFrame]:
    """Combinations of argument values, each on a copy of the module.

    The first scenario has the first value of every argument; each further one has another value of one
    argument. With ``same``, a last scenario passes ``x`` for the further tensors as well.
    """
    values = [_values(arg, style) for arg in args]
    rows = [[0] * len(args)]
    for number, options in enumerate(values):
        rows += [
            [choice if n == number else 0 for n in range(len(args))] for choice in range(1, len(options))
        ]
    rows.sort(key=lambda row: row[:1])  # other sizes of x come last, because flags matter more
    frames = []
    for row in rows[:SCENARIOS]:
        names = {arg.name: values[n][choice] for n, (arg, choice) in enumerate(zip(args, row, strict=True))}
        frames.append(CallFrame(owner, names, [FUEL]).copy())
    others = [arg.name for arg in args[1:] if arg.kind in ("tensor", "optional")]
    if same and others:
        names = {arg.name: values[n][0] for n, arg in enumerate(args)}
        names |= dict.fromkeys(others, names[args[0].name])
        frames.append(CallFrame(owner, names, [FUEL]).copy())
    return frames


def _values(arg: ir.Arg, style: Style) -> list[Value]:
    tensors: list[Value] = [new_tensor(dense(shape, style.dtype)) for shape in style.shapes()]
    if arg.kind == "tensor":
        return tensors if arg.name == "x" else tensors[:1]
    if arg.kind == "optional":
        return [None, tensors[0]]
    if arg.kind == "function":
        return [TorchFunction("relu")]
    if arg.kind in COLLECTIONS:
        return [_box(arg.kind, style)]
    if arg.kind == "either":
        return [tensors[0], _box("tuple", style)]
    if arg.kind == "rest":
        return [CollectionValue("tuple", {}), CollectionValue("tuple", {0: tensors[0]})]
    if arg.kind == "options":
        return [CollectionValue("dict", {}), CollectionValue("dict", {"scale": tensors[0]})]
    return [*LITERALS[arg.kind][:2]]


def in_some_order(choose: Chooser, pairs: Sequence[tuple[str, T]]) -> tuple[tuple[str, T], ...]:
    """Keyword arguments, in the order of the parameters or in another one."""
    if len(pairs) < 2 or not choose.maybe("calls.keyword_order", 60):
        return tuple(pairs)
    first = choose.upto(len(pairs) - 2) + 1
    return (*pairs[first:], *pairs[:first])


def _box(kind: str, style: Style) -> CollectionValue:
    keys = collection_keys(kind) or (0, 1)
    return CollectionValue(kind, {key: new_tensor(dense(style.shape, style.dtype)) for key in keys})


# --- the model's inputs ----------------------------------------------------------------------------


def draw_inputs(choose: Chooser, args: Sequence[ir.Arg], style: Style) -> dict[str, ir.Input]:
    """The example value of each argument of the root class; a missing one takes its default.

    The inputs for ``*rest`` and ``**options`` have their own names.
    """
    inputs: dict[str, ir.Input] = {}
    for arg in args:
        if arg.kind == "rest":
            if choose.chance(60):
                inputs["rest0"] = draw_tensor(choose, style)
        elif arg.kind == "options":
            if choose.chance(60):
                inputs["scale"] = draw_tensor(choose, style)
                if choose.chance(40):
                    inputs["offset"] = draw_tensor(choose, style)
        else:
            given = _draw_input(choose, arg, style, inputs)
            if given is not None:
                inputs[arg.name] = given
    return inputs


def _draw_input(choose: Chooser, arg: ir.Arg, style: Style, known: dict[str, ir.Input]) -> ir.Input | None:
    if arg.kind == "tensor" or (arg.kind == "optional" and choose.chance(60)):
        if known and not style.sizes and choose.maybe("input.again", 60):
            return _draw_again(choose, known)
        return draw_tensor(choose, style, first=arg.name == "x")
    if arg.kind in COLLECTIONS:
        keys = keys_of(choose, arg.kind)
        items: list[ir.Input] = [draw_tensor(choose, style), draw_tensor(choose, style)]
        if not style.sizes and choose.maybe("input.again", 40):
            items[1] = _draw_again(choose, known)
        if arg.kind in ("tuple", "list") and choose.maybe("input.nested", 50):
            items[1] = ir.CollectionInput("dict", (items[1], items[0]), keys_of(choose, "dict"))
        elif choose.maybe("input.value", 60):
            items[1] = draw_input_value(choose)
        return ir.CollectionInput(arg.kind, tuple(items), keys)
    if arg.default is not None and choose.chance(50):
        return None
    if arg.kind == "str" and choose.maybe("input.odd_text", 60):
        return ir.Lit(choose.pick(ODD_TEXTS))
    return ir.Lit(choose.pick(literals(choose, arg.kind)))


def _draw_again(choose: Chooser, known: dict[str, ir.Input]) -> ir.Input:
    """An earlier tensor again, or a view of that tensor."""
    x = known["x"]
    assert isinstance(x, ir.TensorInput)
    shape = x.fill.shape
    views: list[tuple[str, tuple[ir.Literal, ...]]] = [("", ())]
    if len(shape) == 2:
        views.append(("t", ()))
    if shape and shape[0]:
        views.append(("row", (0,)))
    views += [("detach", ()), ("ellipsis", ())]
    if shape and shape[0] > 1:
        views.append(("rows", (1, shape[0])))
    if x.fill.dtype == "complex64" and x.layout != "conjugate":
        views += [("view_as_real", ()), ("imag", ())]
    op, params = choose.pick(views)
    return ir.AliasInput("x", op, params)


def draw_tensor(choose: Chooser, style: Style, first: bool = False) -> ir.TensorInput:
    """One example tensor; ``first``: it is ``x``."""
    shape = style.shape
    fill = style.fill(choose, "parameter", shape)
    dtype = style.dtype
    if not first and choose.maybe("input.side_dtype", 30):
        dtype = choose.pick(SECOND_DTYPES)
    if not first and choose.chance(20):
        # Only of sizes that are not dynamic, so that it broadcasts with every size of x.
        shape = style.shape[1:] if style.sizes else style.shape[-1:]
    fill = ir.Fill(shape, fill.low, fill.high, dtype)
    layout = ""
    if choose.maybe("input.layout", 50):
        layout = choose.pick(style.layouts(shape, dtype))
    grad = inexact(dtype) and choose.maybe("input.requires_grad", 50)
    history = ""
    if grad and choose.maybe("input.history", 75):
        history = choose.pick(("computed", "view of leaf") if layout else ("computed",))
    return ir.TensorInput(fill, layout, grad, history)

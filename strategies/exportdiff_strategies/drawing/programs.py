"""The strategy for whole Programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.arguments import OPTIONS, draw_args, draw_inputs, in_some_order
from exportdiff_strategies.drawing.classes import DEPTH, INSTANCES, ClassBuilder
from exportdiff_strategies.drawing.idioms import with_idiom
from exportdiff_strategies.drawing.modules import count_instances
from exportdiff_strategies.drawing.style import Style, draw_style
from exportdiff_strategies.drawing.tracing import traceable_root
from exportdiff_strategies.idioms import KINDS
from exportdiff_strategies.machine import Machine, arguments, bind
from exportdiff_strategies.naming import with_unusual_names
from exportdiff_strategies.profiles import BASE, IDIOMS, IDIOMS_LEFT_OUT, MIX, PERCENT_WITH_IDIOM, PROFILES
from exportdiff_strategies.swarm import Chooser, Draw
from exportdiff_strategies.tidy import compact, instantiated, tidy
from exportdiff_strategies.trace import Trace
from exportdiff_strategies.values import Value

MORE = (90, 38)
"""Percent of the Programs with a first, and then a second, class in addition to the root class."""

DEEP = (100, 97, 92, 66)
"""The same for Programs that may be deep."""


@st.composite
def programs(
    draw: Draw,
    *,
    profile: str = "default",
    switches: frozenset[str] | None = None,
    forbidden: frozenset[str] = frozenset(),
) -> ir.Program:
    """Draw Programs that eager accepts for three consecutive calls and every probe.

    ``profile`` is a name of PROFILES, or "default". ``switches``, if given, replace the profile: all others
    are off. The ``forbidden`` switches are off in any case. Shrinks towards one class that returns ``x + 1``,
    without children, arguments, branches or state. Raises KeyError for an unknown profile.
    """
    if switches is not None:
        weights: Mapping[str, int] = {name: 75 if name in switches else 0 for name in BASE}
        percent, wanted = 75, switches
    else:
        name = MIX[draw(_MIXED)] if profile == "default" else profile
        weights, percent = PROFILES[name], PERCENT_WITH_IDIOM[name]
        wanted = frozenset(IDIOMS) - IDIOMS_LEFT_OUT[name]
    if forbidden:
        weights = {name: 0 if name in forbidden else weight for name, weight in weights.items()}
    choose = Chooser(draw, weights)
    program = with_unusual_names(_draw_program(choose), choose)
    machine = Machine(program.classes, program.training)
    trace = machine.trace = Trace()
    assume(machine.accepts(program))
    program = compact(program) if choose.on("model.debris") else tidy(program, trace)
    kinds = [name for name in KINDS if f"idiom.{name}" in wanted]
    if not kinds or not choose.chance(percent):
        return program
    kind = choose.pick(kinds)
    return program if f"idiom.{kind}" in forbidden else with_idiom(program, choose, kind)


_MIXED = st.integers(0, len(MIX) - 1)


def _draw_program(choose: Chooser) -> ir.Program:
    style = draw_style(choose, choose.on("model.training"))
    classes: list[ir.ClassDef] = []
    levels: dict[str, int] = {}
    for index, percent in enumerate(DEEP if choose.on("hierarchy.deep") else MORE):
        if not choose.chance(percent):
            break
        builder = ClassBuilder(choose, Machine(classes, style.training), style, "ABCD"[index], levels)
        cls = choose.as_unit(builder.draw_child_class)
        level = 1 + max((levels[name] for name in instantiated(cls)), default=0)
        if level < DEPTH and count_instances(builder.owner) <= INSTANCES:
            classes.append(cls)
            levels[cls.name] = level
    root = ClassBuilder(choose, Machine(classes, style.training), style, "Model", levels)
    root.draw_tensors()
    root.draw_children()
    # The root is only called with one set of flags, so one side of its branches on them never runs.
    args = draw_args(choose, set(), flags=20, root=True)
    inputs = draw_inputs(choose, args, style)
    given, keyword = _arrange(args, inputs, choose)
    dynamic = _draw_dynamic(choose, dict((*given, *keyword)), style)
    if dynamic is not None and choose.maybe("dynamic.second", 75):
        dynamic, resized = _with_second(choose, dynamic, dict((*given, *keyword)))
        given, keyword = (
            tuple((name, resized.get(name, value)) for name, value in pairs) for pairs in (given, keyword)
        )
    outline = ir.Program(
        (*classes, ir.ClassDef("Model", (), args, ())), given, keyword, style.training, dynamic
    )
    calls = [_names(outline, sizes) for sizes in ((), *(dynamic.probes if dynamic else ()))]
    model = root.draw_root_class(args, calls, dynamic.dims[0].high if dynamic else None)
    graph = choose.maybe("hierarchy.graph_root", 70) and traceable_root(model, root.owner)
    return replace(outline, classes=(*classes, model), graph=graph)


def _names(program: ir.Program, sizes: tuple[int, ...]) -> dict[str, Value]:
    args, kwargs = arguments(program, sizes)
    return bind(program.root.args, args, kwargs)


def _arrange(
    args: tuple[ir.Arg, ...], inputs: dict[str, ir.Input], choose: Chooser
) -> tuple[ir.NamedInputs, ir.NamedInputs]:
    """Pass the inputs by position as far as possible, then by keyword."""
    positional: list[tuple[str, ir.Input]] = []
    keyword: list[tuple[str, ir.Input]] = []
    plain = [arg.name for arg in args if arg.kind not in ("rest", "options")]
    if any(name not in inputs for name in plain):
        inputs.pop("rest0", None)
    by_keyword = False
    for arg in args:
        if arg.kind == "rest":
            positional += [(name, value) for name, value in inputs.items() if name == "rest0"]
        elif arg.kind == "options":
            keyword += [(name, value) for name, value in inputs.items() if name in OPTIONS]
        elif arg.name not in inputs:
            by_keyword = True
        else:
            if arg.name != "x" and "rest0" not in inputs and choose.maybe("calls.keyword", 40):
                by_keyword = True
            (keyword if by_keyword else positional).append((arg.name, inputs[arg.name]))
    return tuple(positional), in_some_order(choose, keyword)


def _with_second(
    choose: Chooser, dynamic: ir.Dynamic, inputs: dict[str, ir.Input]
) -> tuple[ir.Dynamic, dict[str, ir.Input]]:
    """The dynamic sizes with a second dimension, that of one more input; and this input with its new size.

    The dimension is independent of the first, or derived from it. Its sizes are never 0 or 1.
    """
    names = [name for name, _, _ in dynamic.places if name != "x"]
    if not names:
        return dynamic, {}
    name = choose.pick(names)
    value = inputs[name]
    assert isinstance(value, ir.TensorInput)
    first, *rest = value.fill.shape
    sizes = [size for (size,) in dynamic.probes]
    kind = dynamic.dims[0].kind
    if kind == "named" and choose.chance(50):
        times, more = choose.pick(((2, 0), (1, 1), (2, 1)))
        dim = ir.Dim("m", kind, base="n", times=times, more=more)
        size, others = times * first + more, [times * each + more for each in sizes]
    else:
        # No probe gives both dimensions one size.
        dim, size = ir.Dim("m", kind), first + 3
        others = [max(*sizes, first) + 4 + number for number in range(len(sizes))]
    places = tuple((n, d, "m" if n == name else symbol) for n, d, symbol in dynamic.places)
    probes = tuple(zip(sizes, others, strict=True))
    resized = replace(value, fill=replace(value.fill, shape=(size, *rest)))
    return ir.Dynamic((*dynamic.dims, dim), places, probes), {name: resized}


def _draw_dynamic(choose: Chooser, inputs: dict[str, ir.Input], style: Style) -> ir.Dynamic | None:
    """The dynamic sizes: the first size of every tensor with the shape of ``x``; all of these are equal."""
    if not style.sizes:
        return None
    places = [
        (name, 0)
        for name, given in inputs.items()
        if isinstance(given, ir.TensorInput) and given.fill.shape == style.shape
    ]
    kind = choose.pick(("named", "auto", "dynamic")) if choose.on("dynamic.hints") else "named"
    low = high = None
    if choose.maybe("dynamic.range", 75) and kind == "named":
        sizes = (style.shape[0], *style.sizes)
        low, high = min(sizes), max(sizes) + choose.upto(1)
    dims = (ir.Dim("n", kind, low, high),)
    return ir.Dynamic(
        dims, tuple((name, dim, "n") for name, dim in places), tuple((size,) for size in style.sizes)
    )

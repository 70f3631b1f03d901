"""The strategy for whole Programs."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import assume
from hypothesis import strategies as st

from strategies.bodies import LITERALS
from strategies.machine import Machine
from strategies.modules import DEPTH, INSTANCES, ClassBuilder, Style, count_instances
from strategies.program import (
    Arg,
    ClassDef,
    Input,
    Lit,
    Program,
    TensorInput,
)
from strategies.swarm import WEIGHTS, Chooser, Draw
from strategies.tidy import instantiated, tidy
from strategies.types import Shape

SHAPES: tuple[Shape, ...] = ((2, 2), (3,), (2, 3), (1, 3), (3, 3), (2, 1), (2, 2, 2), (1,), ())

COUNTS = (1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6)
"""Numbers of module classes, weighted by repetition."""


@st.composite
def programs(draw: Draw, *, weights: Mapping[str, int] = WEIGHTS) -> Program:
    """Programs that eager accepts for three consecutive calls.

    ``weights`` gives the percentage of examples that may use each feature. Shrinks towards one class
    that returns ``x + 1``, without children, arguments, branches or state.
    """
    choose = Chooser(draw, weights)
    count = choose.pick(COUNTS)
    training = choose.on("model.training")
    style = Style(choose.pick(SHAPES), training)
    classes: list[ClassDef] = []
    levels: dict[str, int] = {}
    for index in range(count - 1):
        machine = Machine(classes, training)
        builder = ClassBuilder(choose, machine, style, "ABCDE"[index], levels)
        cls = builder.draw_child_class()
        level = 1 + max((levels[name] for name in instantiated(cls)), default=0)
        if level < DEPTH and count_instances(builder.owner) <= INSTANCES:
            classes.append(cls)
            levels[cls.name] = level
    machine = Machine(classes, training)
    root = ClassBuilder(choose, machine, style, "Model", levels)
    root.draw_tensors()
    root.draw_children()
    # The root is only ever called with one set of flags, so its branches on them are half dead.
    args = root.draw_args(flags=20)
    inputs = {arg.name: given for arg in args if (given := _draw_input(choose, root, arg))}
    model = root.draw_root_class(inputs, args)
    program = _arrange((*classes, model), args, inputs, choose, training)
    if not choose.on("model.debris"):
        program = tidy(program)
    assume(Machine(program.classes, training).accepts(program))
    return program


def _draw_input(choose: Chooser, root: ClassBuilder, arg: Arg) -> Input | None:
    """The example value of one argument of the root module; None leaves it to its default."""
    if arg.kind == "tensor" or (arg.kind == "optional" and choose.chance(60)):
        fill = root.draw_fill(root.style.shape)
        turned = len(fill.shape) == 2 and choose.on("input.transposed") and choose.chance(50)
        return TensorInput(fill, turned)
    if arg.default is not None and choose.chance(50):
        return None
    return Lit(choose.pick(LITERALS[arg.kind]))


def _arrange(
    classes: tuple[ClassDef, ...],
    args: tuple[Arg, ...],
    inputs: dict[str, Input],
    choose: Chooser,
    training: bool,
) -> Program:
    """Hand the inputs over by position as far as that goes, then by keyword."""
    positional: list[Input] = []
    keyword: list[tuple[str, Input]] = []
    by_keyword = False
    for arg in args:
        if arg.name not in inputs:
            by_keyword = True
            continue
        by_keyword = by_keyword or (arg.name != "x" and choose.on("calls.keyword") and choose.chance(40))
        if by_keyword:
            keyword.append((arg.name, inputs[arg.name]))
        else:
            positional.append(inputs[arg.name])
    return Program(classes, tuple(positional), tuple(keyword), training)

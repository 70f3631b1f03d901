"""Hand-made hierarchies, exported graphs and rebuilt modules for the tests of the structure check."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from exportdiff.core.path import Path
from exportdiff.judging.checks.structure.check import structure
from exportdiff.runtime.observing.graphs import (
    Exported,
    Hierarchy,
    Listing,
    ModuleFrame,
    Operand,
    Rebuilt,
    Spec,
    Step,
    Visit,
)
from exportdiff.runtime.observing.observation import EagerObservation, ExportedObservation, Observation
from exportdiff.runtime.observing.tensors import State, snapshot
from exportdiff.runtime.paths import parse

NAMES = ("", "a", "a.b", "c")
CALL_A, CALL_B, CALL_C = ModuleFrame("a", "a"), ModuleFrame("a.b", "a.b"), ModuleFrame("c", "c")


def step(operator: str, *operands: Operand, frames: tuple[ModuleFrame, ...] | None = (), **more: Any) -> Step:
    return Step(operator, f"({', '.join('%' for _ in operands)})", operands, frames, **more)


def listing(*steps: Step, returns: Operand = 0) -> Listing:
    return Listing(steps, step("return", returns))


# The model calls a, which calls a.b, and then c.
EAGER = EagerObservation(
    Path("eager", "model"),
    before=State({"a.w": snapshot(nn.Parameter(torch.ones(2))), "c.t": snapshot(torch.ones(2))}, {}),
    hierarchy=Hierarchy(
        first={name: name for name in NAMES},
        persistent=frozenset({"a.w", "c.t"}),
        visits=(Visit("a", None, False), Visit("a.b", 0, True), Visit("c", None, False)),
    ),
)
STEPS = (
    step("mul", "input 0", "a.w", frames=(CALL_A, CALL_B)),
    step("add", 0, frames=(CALL_A,)),
    step("sub", 1, "c.t", frames=(CALL_C,)),
)
MADE = tuple(
    each._replace(frames=frames)
    for each, frames in zip(
        STEPS,
        ((ModuleFrame("a", 0), ModuleFrame("a.b", 1)), (ModuleFrame("a", 0),), (ModuleFrame("c", 2),)),
        strict=True,
    )
)
EXPORTED = Exported(
    listing=listing(*STEPS, returns=2),
    inputs=(
        Spec("PARAMETER", "p_a_w", "a.w", None),
        Spec("BUFFER", "b_c_t", "c.t", True),
        Spec("USER_INPUT", "x", "", None),
    ),
    outputs=(Spec("USER_OUTPUT", "sub", "", None),),
    placeholders=("p_a_w", "b_c_t", "x"),
    returned=("sub",),
    call_graph=NAMES,
    state=frozenset({"a.w", "c.t"}),
    constants=frozenset(),
)
REBUILT = Rebuilt(
    modules=frozenset(NAMES),
    calls=(("a", None), ("a.b", 0), ("c", None)),
    listing=listing(*MADE, returns=2),
)


def seen(exported: Exported = EXPORTED, rebuilt: Rebuilt | None = REBUILT) -> ExportedObservation:
    return ExportedObservation(parse("nonstrict:unflatten@cpu"), exported=exported, rebuilt=rebuilt)


def whats(candidate: Observation, reference: EagerObservation = EAGER) -> list[tuple[str, ...]]:
    return [difference.words() for difference in structure(reference, candidate)]

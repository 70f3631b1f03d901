"""What ``check`` costs: a large model against the same steps by hand, and a small model with findings."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.core.case import case_from_source
from exportdiff.interfaces.checking.check_steps import FindingConfirmed, PathDone
from exportdiff.interfaces.checking.default_paths import default_paths
from exportdiff.interfaces.checking.in_subprocess import LoadableModel, judge_in_subprocess
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.bench.figures import Figure, Result
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.case import Case
    from exportdiff.interfaces.checking.check_steps import CheckStep
    from exportdiff.lab.bench.context import Context

LARGE = """
import torch

def make():
    layers = [torch.nn.Linear(1024, 1024) for _ in range({layers})]
    return torch.nn.Sequential(*layers), (torch.ones(2, 1024),)
"""
LAYER = 4.0
"""Megabytes of one layer."""
LARGE_PATHS = tuple(
    map(parse, ("nonstrict:module", "nonstrict:unflatten", "nonstrict+decompose:module", "strict:module"))
)
SMALL = """
import torch

class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2))

    def forward(self, x):
        self.last = x.detach().reshape(-1)[:2] + 1
        return x.sum(0) if x.dim() > 1 else x * 10

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = torch.nn.Sequential(Inner())
        self.again = self.outer

    def forward(self, x):
        return self.again(self.outer(x))

def make():
    return Model(), (torch.ones(2, 2),)
"""
"""On torch 2.13, the value of the buffer and of the output is wrong on several paths."""
SECONDS = 600.0


def measure(context: Context) -> Result:
    """Measure both models."""
    large, small = _large_figures(context.scale.large_megabytes), _small_figures()
    return Result((*large, *small))


@dataclass(frozen=True)
class Cost:
    """What one run of a large model took."""

    seconds: float
    """CPU seconds."""
    memory: float
    """By how much the peak of memory grew, as a multiple of the weights."""


def _large_figures(megabytes: float) -> tuple[Figure, ...]:
    layers = max(1, round(megabytes / LAYER))
    size = f"{layers * LAYER:.0f} MB, {len(LARGE_PATHS)} paths"
    names = "large model: check over the same paths by hand", "large model: peak memory beyond that by hand"
    # Each in a process that has run nothing else: the peak of a process never falls.
    by_hand, judged = (call_fresh(SECONDS, cost_of, run, layers) for run in (_by_hand, _judged))
    if not isinstance(by_hand, Cost) or not isinstance(judged, Cost):
        return tuple(Figure(name, None, note=f"{size}: its process ended early") for name in names)
    more = judged.seconds / by_hand.seconds
    beyond = judged.memory - by_hand.memory
    memory = f"{size}; by hand {by_hand.memory:.1f} x the weights"
    return (
        Figure(names[0], more, "x", "<= 4", note=f"{size}, CPU time"),
        Figure(names[1], beyond, "x the weights", "<= 3", note=memory),
    )


def cost_of(run: Callable[[Case], None], layers: int) -> Cost:
    """Run a small model to import all that is needed, then a large one; return what the large one takes."""
    run(case_from_source(LARGE.format(layers=1)))
    case = case_from_source(LARGE.format(layers=layers), finite_only=False)
    before, since = _peak(), time.process_time()
    run(case)
    return Cost(time.process_time() - since, (_peak() - before) / (layers * LAYER * 1e6))


def _judged(case: Case) -> None:
    judge_case(case, LARGE_PATHS)


def _by_hand(case: Case) -> None:
    for path in LARGE_PATHS:
        built = case.build()
        program = torch.export.export(built.model, built.args, strict=path.mode == "strict")
        if path.transforms:
            program = program.run_decompositions()
        made: Any = program.module() if path.runner == "module" else torch.export.unflatten(program)
        made(*built.args)


def _peak() -> float:
    """Return the largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _small_figures() -> tuple[Figure, ...]:
    model = LoadableModel("small model", partial(case_from_source, SMALL, finite_only=False))
    start = time.monotonic()
    at: dict[str, list[float]] = {"rows": [0.0], "findings": [0.0]}

    def note(step: CheckStep) -> None:
        if isinstance(step, PathDone):
            at["rows"].append(time.monotonic() - start)
        elif isinstance(step, FindingConfirmed):
            at["findings"].append(time.monotonic() - start)

    report = judge_in_subprocess(model, default_paths(), seconds=SECONDS, on_step=note)
    what = f"{len(report.paths)} paths, {len(report.found)} findings, wall time"
    return (
        Figure("small model with findings: all rows", at["rows"][-1], "s", note=what),
        Figure("small model with findings: all confirmed", at["findings"][-1], "s", "<= 15", note=what),
    )

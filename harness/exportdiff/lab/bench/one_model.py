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
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
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
class LargeCost:
    """The cost of one large model."""

    by_hand: float
    """CPU seconds."""
    judged: float
    memory_by_hand: float
    """The peak of memory, as a multiple of the weights."""
    memory: float


def _large_figures(megabytes: float) -> tuple[Figure, ...]:
    layers = max(1, round(megabytes / LAYER))
    cost = call_fresh(SECONDS, large_cost, layers)
    names = "large model: check over the same paths by hand", "large model: peak memory over weights"
    if isinstance(cost, Death | TaskFailure):
        reason = cost.reason if isinstance(cost, Death) else str(cost.error)
        return tuple(Figure(name, None, note=reason) for name in names)
    size = f"{layers * LAYER:.0f} MB, {len(LARGE_PATHS)} paths"
    return (
        Figure(names[0], cost.judged / cost.by_hand, "x", "<= 4", note=f"{size}, CPU time"),
        Figure(names[1], cost.memory, "x", "<= 3", note=f"{size}; by hand {cost.memory_by_hand:.1f}"),
    )


def large_cost(layers: int) -> LargeCost:
    """Run a model by hand, then judge it, in this process."""
    small = case_from_source(LARGE.format(layers=1))
    _by_hand(small)
    judge_case(small, LARGE_PATHS)
    case = case_from_source(LARGE.format(layers=layers), finite_only=False)
    weights = layers * LAYER * 1e6
    start = _peak()
    by_hand = _cpu(partial(_by_hand, case))
    after_hand = _peak()
    judged = _cpu(partial(judge_case, case, LARGE_PATHS))
    return LargeCost(by_hand, judged, (after_hand - start) / weights, (_peak() - start) / weights)


def _by_hand(case: Case) -> None:
    for path in LARGE_PATHS:
        built = case.build()
        program = torch.export.export(built.model, built.args, strict=path.mode == "strict")
        if path.transforms:
            program = program.run_decompositions()
        made: Any = program.module() if path.runner == "module" else torch.export.unflatten(program)
        made(*built.args)


def _cpu(run: Any) -> float:
    since = time.process_time()
    run()
    return time.process_time() - since


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

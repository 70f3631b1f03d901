"""The harness against a bare loop over the same programs, which exports, lowers, calls and compares.

The loop has no isolation, no deviations, no snapshots, no checks but ``torch.equal``: the least that finds
anything. Both run in one process, program by program in turn, so noise of the machine meets both.
"""

from __future__ import annotations

import contextlib
import gc
import io
import time
from typing import TYPE_CHECKING, Any

import torch

from exportdiff.core.case import case_from_source
from exportdiff.core.programs import program_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.lab.bench.figures import Figure, Result, spread
from exportdiff.lab.bench.records import warm_up
from exportdiff.runtime.observing.caches import forget_compiled
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.lab.bench.context import Context

WANTED = 1.5
SECONDS = 30.0
"""A program takes no longer than this."""
Pair = tuple[float, float]


def measure(context: Context) -> Result:
    """Measure on ``nonstrict:module`` and ``nonstrict:unflatten``."""
    programs = context.scale.bare_programs
    answer = call_fresh(SECONDS * programs, _both, context.seed, programs, context.nonstrict_paths)
    if isinstance(answer, Death | TaskFailure):
        reason = answer.reason if isinstance(answer, Death) else str(answer.error)
        return Result((Figure("harness over a bare loop", None, wanted=f"<= {WANTED}", note=reason),))
    harness, bare = (sum(column) for column in zip(*answer, strict=True))
    return Result(
        (
            Figure("harness over a bare loop", ratio(answer), "x", f"<= {WANTED}", spread(answer, ratio)),
            Figure("bare loop", 1000 * bare / programs, "ms", note="CPU per program"),
            Figure("harness", 1000 * harness / programs, "ms", note="CPU per program, without drawing"),
        ),
        data={"programs": programs},
    )


def ratio(pairs: Sequence[Pair]) -> float:
    """Return the total time of the harness over that of the loop."""
    harness, bare = (sum(column) for column in zip(*pairs, strict=True))
    return float(harness / bare)


def _both(seed: int, programs: int, paths: Sequence[Path]) -> list[Pair]:
    """Return the CPU seconds of harness and loop for each program."""
    gc.disable()
    warm_up(tuple(paths))
    pairs: list[Pair] = []
    for index in range(programs):
        case = case_from_source(program_source(seed, index)[0])
        # Take turns: the second one finds some caches warm.
        order = (_judged, _looped) if index % 2 else (_looped, _judged)
        times = {run: _cpu(run, case, paths) for run in order}
        pairs.append((times[_judged], times[_looped]))
        gc.collect()
    return pairs


def _cpu(run: Any, case: Case, paths: Sequence[Path]) -> float:
    forget_compiled()
    since = time.process_time()
    run(case, paths)
    return time.process_time() - since


def _judged(case: Case, paths: Sequence[Path]) -> None:
    judge_case(case, paths)


def _looped(case: Case, _: Sequence[Path]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        loop(case)


def loop(case: Case) -> list[bool]:
    """Export, build both runners, call each as often as the harness calls; say where outputs agree.

    Raises whatever torch raises.
    """
    calls = 3  # as the harness; see runtime/inputs/copies.py
    built = case.build()
    shapes: Any = case.shapes()
    program = torch.export.export(built.model, built.args, built.kwargs, dynamic_shapes=shapes, strict=False)
    equal: list[bool] = []
    for runner in (program.module(), torch.export.unflatten(program)):
        fresh = case.build()
        for _ in range(calls):
            expected = fresh.model(*fresh.args, **fresh.kwargs)
            seen = runner(*fresh.args, **fresh.kwargs)
            equal.append(_equal(expected, seen))
    return equal


def _equal(expected: object, seen: object) -> bool:
    ours, theirs = torch.utils._pytree.tree_leaves(expected), torch.utils._pytree.tree_leaves(seen)
    return len(ours) == len(theirs) and all(
        torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
        for one, other in zip(ours, theirs, strict=True)
    )

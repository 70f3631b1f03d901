"""What a worker does: draw a program, render it, judge it. The only place that joins the two halves."""

from __future__ import annotations

import gc
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.case import Case
    from harness.paths import Path
    from harness.verdict import Verdict

STRICT_EVERY = 4
"""Strict export costs four times as much as the rest together: one program in so many takes it."""


@dataclass(frozen=True)
class Job:
    """What all examples of a campaign have in common."""

    seed: int
    paths: tuple[Path, ...]
    """None at all: run eager alone, to see whether it survives."""


@dataclass(frozen=True)
class ExampleResult:
    """What became of one example. Plain data: it crosses a process boundary."""

    index: int
    verdict: Verdict | None
    """None: our own code failed, and ``error`` says how."""
    features: tuple[str, ...] = ()
    source: str = ""
    """The program, where there is something to show of it."""
    seconds: float = 0.0
    error: str = ""


def paths_for(index: int, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Choose the paths of one example, by its index alone, so that workers cannot matter."""
    cheap = tuple(path for path in paths if path.mode != "strict")
    return tuple(paths) if index % STRICT_EVERY == 0 or not cheap else cheap


def run_batch(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge some examples, one after the other."""
    results = tuple(_run_example(job, index) for index in indices)
    gc.collect()
    # What survived is caches: looking through them again after every batch would cost as much as this one.
    gc.freeze()
    return results


def program_source(seed: int, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the source of an example and its feature tags."""
    from strategies import draw_program, render

    program = draw_program(seed, index)
    return render(program), tuple(sorted(program.features))


def _run_example(job: Job, index: int) -> ExampleResult:
    from harness.case import case_from_source

    started = time.perf_counter()
    features: tuple[str, ...] = ()
    source = ""
    try:
        source, features = program_source(job.seed, index)
        verdict = judge_case(case_from_source(source), paths_for(index, job.paths))
    except Exception:
        error = f"{traceback.format_exc()}\nwhile judging\n{source}"
        return ExampleResult(index, None, features, source, error=error)
    seconds = time.perf_counter() - started
    shown = source if verdict.findings else ""
    return ExampleResult(index, verdict, features, shown, seconds)


def judge_case(case: Case, paths: Sequence[Path]) -> Verdict:
    """Judge along paths; along none, run eager alone to see whether it survives."""
    from harness.paths import Stopwatch, observe_eager
    from harness.verdict import Verdict, judge

    if paths:
        return judge(case, paths)
    observe_eager(case, "cpu", Stopwatch())
    return Verdict(True, "", (), (), 0.0)

"""What a worker process does: draw a program, render it, judge it, and ask the corpus about its findings."""

from __future__ import annotations

import gc
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.engine.schedule import paths_for
from harness.programs import DEFAULT_PROFILE, program_source

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from harness.judge.verdict import Verdict
    from harness.path import Path


@dataclass(frozen=True)
class Job:
    """What all examples of a campaign have in common."""

    seed: int
    paths: tuple[Path, ...]
    """None at all: run eager alone, to see whether it survives."""
    profile: str = DEFAULT_PROFILE
    corpora: pathlib.Path | None = None
    """The corpus whose bugs are known; None: every finding is new."""


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
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By the fingerprints of findings that the corpus explains: the names of its entries."""


def run_batch(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge some examples, one after the other; what another batch held does not matter."""
    from harness.observe.caches import forget_predictions

    forget_predictions()
    results = tuple(_run_example(job, index) for index in indices)
    gc.collect()
    # What survived is caches: looking through them again after every batch would cost as much as this one.
    gc.freeze()
    return results


def _run_example(job: Job, index: int) -> ExampleResult:
    from harness.case import case_from_source
    from harness.judge.judge_case import judge_case
    from harness.known.attribution import explain, knowledge

    started = time.perf_counter()
    features: tuple[str, ...] = ()
    source = ""
    try:
        source, features = program_source(job.seed, index, job.profile)
        case = case_from_source(source)
        verdict = judge_case(case, paths_for(index, job.paths))
        known = explain(case, verdict.findings, features, knowledge(job.corpora)) if job.corpora else {}
    except Exception:
        error = f"{traceback.format_exc()}\nwhile judging\n{source}"
        return ExampleResult(index, None, features, source, error=error)
    seconds = time.perf_counter() - started
    shown = source if verdict.findings else ""
    return ExampleResult(index, verdict, features, shown, seconds, known=known)

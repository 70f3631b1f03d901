"""What a worker process does: draw and render a program, judge it, attribute its findings to known bugs."""

from __future__ import annotations

import gc
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.case import case_from_source
from harness.engine.schedule import paths_for
from harness.judge.judge_case import judge_case
from harness.known.attribution import explain, knowledge
from harness.observe.caches import forget_predictions
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
    """Empty: run eager alone, to see whether it survives."""
    profile: str = DEFAULT_PROFILE
    corpora: pathlib.Path | None = None
    """The corpus of the known bugs; None: every finding is new."""


@dataclass(frozen=True)
class ExampleResult:
    """The result of one example. Plain data: it crosses a process boundary."""

    index: int
    verdict: Verdict | None
    """None: exportdiff itself failed; ``error`` says how."""
    tags: tuple[str, ...] = ()
    source: str = ""
    """The program, if it shows a finding or if exportdiff failed on it; else empty."""
    seconds: float = 0.0
    error: str = ""
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each finding that the corpus explains: its fingerprint, and the names of the entries."""


def run_batch(job: Job, indices: Sequence[int]) -> tuple[ExampleResult, ...]:
    """Judge some examples, one after the other; earlier batches do not influence the results."""
    forget_predictions()
    results = tuple(_run_example(job, index) for index in indices)
    gc.collect()
    # What is left are caches: to traverse them again after every batch would cost as much as this time.
    gc.freeze()
    return results


def _run_example(job: Job, index: int) -> ExampleResult:
    started = time.perf_counter()
    tags: tuple[str, ...] = ()
    source = ""
    try:
        source, tags = program_source(job.seed, index, job.profile)
        case = case_from_source(source)
        verdict = judge_case(case, paths_for(index, job.paths))
        known = explain(case, verdict.findings, tags, knowledge(job.corpora)) if job.corpora else {}
    except Exception:
        error = f"{traceback.format_exc()}\nwhile judging\n{source}"
        return ExampleResult(index, None, tags, source, error=error)
    seconds = time.perf_counter() - started
    shown = source if verdict.findings else ""
    return ExampleResult(index, verdict, tags, shown, seconds, known=known)

"""What a worker does: draw a program, render it, judge it. The only place that joins the two halves."""

from __future__ import annotations

import gc
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from harness.plan import paths_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.case import Case
    from harness.paths import Path as Route
    from harness.verdict import Verdict

DEFAULT_PROFILE = "default"


@dataclass(frozen=True)
class Job:
    """What all examples of a campaign have in common."""

    seed: int
    paths: tuple[Route, ...]
    """None at all: run eager alone, to see whether it survives."""
    profile: str = DEFAULT_PROFILE
    corpora: Path | None = None
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
    from harness.isolation import forget_predictions

    forget_predictions()
    results = tuple(_run_example(job, index) for index in indices)
    gc.collect()
    # What survived is caches: looking through them again after every batch would cost as much as this one.
    gc.freeze()
    return results


def program_source(seed: int, index: int, profile: str = DEFAULT_PROFILE) -> tuple[str, tuple[str, ...]]:
    """Return the source of an example and its feature tags."""
    from strategies import draw_program, render, tags_of

    program = draw_program(seed, index, profile)
    return render(program), tuple(sorted(tags_of(program)))


def profile_names() -> tuple[str, ...]:
    """Return what a campaign may draw by, the default first."""
    from strategies.profiles import PROFILES

    return tuple(dict.fromkeys((DEFAULT_PROFILE, *PROFILES)))


def feature_tags() -> tuple[str, ...]:
    """Return every feature tag that a program may have."""
    from strategies.tags import TAGS

    return tuple(TAGS)


@dataclass(frozen=True)
class FeatureCount:
    """How often each feature tag was drawn, and each two of them together."""

    examples: int
    seconds: float
    """For drawing and rendering; importing what does so is not counted."""
    tags: dict[str, int]
    """Every tag, in the order of their table."""
    pairs: dict[tuple[str, str], int]
    """Those that were drawn, each sorted."""
    meanings: dict[str, str]
    possible: int
    """How many pairs of tags can meet in one program."""


def count_features(seed: int, examples: int, profile: str = DEFAULT_PROFILE) -> FeatureCount:
    """Draw and render the first examples of a campaign, and count their tags."""
    from strategies import draw_program, render, tags_of
    from strategies.tags import TAGS, can_meet

    tags = Counter(dict.fromkeys(TAGS, 0))
    pairs: Counter[tuple[str, str]] = Counter()
    seconds = 0.0
    program_source(seed, 0, profile)  # so that nothing is counted that only the first program pays
    for index in range(examples):
        started = time.perf_counter()
        program = draw_program(seed, index, profile)
        render(program)
        seconds += time.perf_counter() - started
        found = sorted(tags_of(program))
        tags.update(found)
        pairs.update(combinations(found, 2))
    possible = sum(can_meet(one, other) for one, other in combinations(sorted(TAGS), 2))
    meanings = {name: tag.meaning for name, tag in TAGS.items()}
    return FeatureCount(examples, seconds, dict(tags), dict(sorted(pairs.items())), meanings, possible)


def _run_example(job: Job, index: int) -> ExampleResult:
    from harness.attribution import explain, knowledge
    from harness.case import case_from_source

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


def judge_case(case: Case, paths: Sequence[Route]) -> Verdict:
    """Judge along paths; along none, run eager alone to see whether it survives."""
    from harness.paths import Stopwatch, observe_eager
    from harness.verdict import Verdict, judge

    if paths:
        return judge(case, paths)
    observe_eager(case, "cpu", Stopwatch())
    return Verdict(True, "", (), (), 0.0)

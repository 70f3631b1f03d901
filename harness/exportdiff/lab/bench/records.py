"""Judges programs as a campaign does, with the clocks of the benchmark attached: one record per program."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.core.programs import program_source
from exportdiff.fuzzing.campaign.schedule import paths_for
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import Verdict
from exportdiff.lab.bench.path_clock import PathClock
from exportdiff.lab.bench.roots import roots_of
from exportdiff.lab.bench.shape import Shape, shape_of
from exportdiff.lab.bench.stage_clock import ATTRIBUTE, DRAW, LOAD, StageClock
from exportdiff.lab.bench.threads import in_threads
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping, Sequence
    from threading import Event

    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.fuzzing.campaign.worker import Job
    from exportdiff.judging.results import PathResult

USUAL = 10
"""After this number of findings with one fingerprint and equal root causes, the others are not attributed."""
BATCH = 4
PROGRAM_SECONDS = 120.0
WARM_UP = """
import torch
from torch import nn

def make():
    return nn.Linear(3, 3), (torch.ones(2, 3),)
"""


@dataclass(frozen=True)
class Record:
    """One judged program: what it is, what it cost, what it showed. Plain data."""

    index: int
    source: str
    tags: tuple[str, ...]
    shape: Shape
    stages: Mapping[str, float]
    """CPU seconds by stage."""
    parts: Mapping[str, float]
    """CPU seconds of some parts of the stages, such as the deviating calls."""
    path_cpu: Mapping[Path, float]
    paths: tuple[PathResult, ...]
    findings: tuple[Finding, ...]
    roots: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By fingerprint, the root causes that the corpus names; a finding that is new has none."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the program."""
        return Verdict(True, "", self.paths, self.findings, 0.0)

    @property
    def cpu(self) -> float:
        """CPU seconds without attribution."""
        return sum(seconds for stage, seconds in self.stages.items() if stage != ATTRIBUTE)

    @property
    def causes(self) -> frozenset[str]:
        """All root causes that the program shows."""
        return frozenset().union(*self.roots.values())


@dataclass(frozen=True)
class Records:
    """The records of a run, in the order of the programs."""

    records: tuple[Record, ...]
    lost: int
    """Programs that killed their process or made the harness fail; they are in no figure."""


def record(job: Job, index: int) -> Record:
    """Draw and judge one program of a campaign in this process."""
    stages, paths = StageClock(), PathClock()
    with stages.attached(), paths.attached():
        with stages.whole(DRAW):
            source, tags = program_source(job.seed, index, job.profile)
        with stages.whole(LOAD):
            case = case_from_source(source)
        verdict = judge_case(case, paths_for(index, job.paths, tags))
    stages.stop()
    return Record(
        index,
        source,
        tags,
        shape_of(source, tags),
        dict(stages.cpu),
        dict(stages.parts),
        dict(paths.cpu),
        verdict.paths,
        verdict.findings,
    )


def record_batch(job: Job, indices: Sequence[int]) -> tuple[Record, ...]:
    """Record some programs; what ran before changes neither their findings nor much of their cost."""
    warm_up(job.paths)
    with clean_state(free=True):
        return tuple(record(job, index) for index in indices)


_warm: set[tuple[Path, ...]] = set()


def warm_up(paths: tuple[Path, ...]) -> None:
    """Judge a small program once in this process: the first program pays for imports and caches."""
    if paths not in _warm:
        program_source(0, 0)
        judge_case(case_from_source(WARM_UP), paths)
        _warm.add(paths)


def attributed(record: Record, corpora: pathlib.Path) -> Record:
    """Name the root causes of a record's findings, by the corpus."""
    since = time.process_time()
    with clean_state(free=True):
        roots = roots_of(case_from_source(record.source), record.verdict, record.tags, corpora)
    return replace(record, roots=roots, stages={**record.stages, ATTRIBUTE: time.process_time() - since})


def run_records(job: Job, *, programs: int, cpu_seconds: float, workers: int) -> Records:
    """Record programs 0, 1, ... until either limit."""
    queue = _Queue(programs, cpu_seconds)
    in_threads(workers, lambda stop: _judge(job, queue, stop))
    return Records(tuple(sorted(queue.records, key=lambda each: each.index)), queue.lost)


def with_roots(records: Sequence[Record], corpora: pathlib.Path, workers: int) -> tuple[Record, ...]:
    """Return the same records, each with the root causes of its findings."""
    shares = iter([records[number::workers] for number in range(workers)])
    named: list[Record] = []
    in_threads(workers, lambda stop: named.extend(_attribute(next(shares), corpora, stop)))
    return tuple(sorted(named, key=lambda each: each.index))


class _Queue:
    """Hands out batches in order, so that what is done is always the start of the campaign."""

    def __init__(self, programs: int, cpu_seconds: float) -> None:
        self._indices = iter(range(programs))
        self._cpu_seconds = cpu_seconds
        self._lock = Lock()
        self.records: list[Record] = []
        self.lost = 0

    def take(self) -> tuple[int, ...]:
        """Return the next batch; an empty one at the limit."""
        with self._lock:
            if sum(each.cpu for each in self.records) >= self._cpu_seconds:
                return ()
            return tuple(islice(self._indices, BATCH))

    def add(self, records: Sequence[Record], lost: int) -> None:
        with self._lock:
            self.records.extend(records)
            self.lost += lost


def _judge(job: Job, queue: _Queue, stop: Event) -> None:
    with ReusableWorker() as child:
        while batch := queue.take():
            answer = child.ask(PROGRAM_SECONDS * BATCH, record_batch, job, batch, stop=stop)
            if not isinstance(answer, Death | TaskFailure):
                queue.add(answer, 0)
                continue
            for index in batch:
                one = child.ask(PROGRAM_SECONDS, record_batch, job, (index,), stop=stop)
                lost = isinstance(one, Death | TaskFailure)
                queue.add(() if isinstance(one, Death | TaskFailure) else one, int(lost))


def _attribute(records: Sequence[Record], corpora: pathlib.Path, stop: Event) -> list[Record]:
    done: list[Record] = []
    usual = UsualRoots()
    with ReusableWorker() as child:
        for each in records:
            roots = usual.of(each)
            if roots is not None:
                done.append(replace(each, roots=roots))
                continue
            answer = child.ask(PROGRAM_SECONDS, attributed, each, corpora, stop=stop)
            if not isinstance(answer, Death | TaskFailure):
                each = answer
                usual.add(each)
            done.append(each)
    return done


class UsualRoots:
    """What findings with the same fingerprint had as root causes: it need not be found out hundreds of times.

    A program with a rare root cause behind a usual finding then counts for the usual one. So fewer root
    causes are counted than with every program attributed, never more.
    """

    def __init__(self) -> None:
        """Nothing is usual yet."""
        self._seen: dict[str, list[frozenset[str]]] = {}

    def add(self, record: Record) -> None:
        """Learn from a record with root causes."""
        for finding in record.findings:
            self._seen.setdefault(finding.fingerprint, []).append(
                record.roots.get(finding.fingerprint, frozenset())
            )

    def of(self, record: Record) -> dict[str, frozenset[str]] | None:
        """Return the root causes of each finding, if all are usual ones; None: find them out."""
        roots: dict[str, frozenset[str]] = {}
        for finding in record.findings:
            seen = self._seen.get(finding.fingerprint, [])
            if len(seen) < USUAL or len(set(seen)) > 1:
                return None
            if seen[0]:
                roots[finding.fingerprint] = seen[0]
        return roots

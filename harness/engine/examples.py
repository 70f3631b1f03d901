"""Runs the examples of a campaign on worker processes; the results come in the order of the index."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from harness.engine.postmortem import post_mortem
from harness.engine.schedule import paths_for
from harness.engine.uncovering import Uncovering
from harness.engine.worker import ExampleResult, Job, uncovered
from harness.judge.results import PathResult, Verdict
from harness.known.standing import Standing
from harness.processes.child import Death, Failure, Stopped
from harness.processes.pool import Task, Workers

if TYPE_CHECKING:
    from threading import Event

    from harness.engine.clock import Clock
    from harness.engine.journal import Journal
    from harness.engine.settings import Settings
    from harness.findings import Finding
    from harness.known.explained import Explained
    from harness.known.leftovers import Leftover
    from harness.known.standing import Kind
    from harness.paths import Path

BATCH = 8
"""Examples per task: enough to make the cost of a task small, few enough to keep all workers busy. The first
tasks have fewer, so that results come early."""
BATCHES_EACH = 100
"""A fresh worker replaces one that ran so many batches: caches, modules and memory never build up."""
AHEAD = 3
"""Batches per worker that are queued or in progress, so that no worker ever waits for its next batch."""
KEPT = 500
"""Batches that may be finished before their turn: 4000 results, about 40 MB."""
POLL = 0.1
"""Seconds between two looks at the queue while the first batch is in progress."""
GRACE = 2.0
"""Seconds that examples in progress may go on when the time is over."""
PATIENCE = 10
"""How many times the limit of an example it may take to find out which known bugs an example shows."""

Results: TypeAlias = tuple[ExampleResult, ...]
Work = Callable[[Job, Sequence[int]], Results]
Source = Callable[[Job, int], tuple[str, tuple[str, ...]]]


class _Batch(NamedTuple):
    """Some examples, and the task that runs them."""

    indices: tuple[int, ...]
    task: Task[Results]


class Examples:
    """The examples of one campaign. Iterate over ``results()`` once."""

    def __init__(
        self,
        settings: Settings,
        work: Work,
        source: Source,
        clock: Clock,
        stop: Event | None,
        journal: Journal | None = None,
    ) -> None:
        """``work`` runs a batch in a worker, ``source`` draws a program there; ``stop`` asks to stop.

        ``journal``: what an earlier run of the campaign has done; it gets every further result.
        """
        self._journal = journal
        self._settings = settings
        self._work = work
        self._source = source
        self._clock = clock
        self._stop = stop
        self._queued = 0
        self.given_up = 0
        """Examples that a worker had started and that were not done when the time was over."""
        self._job = Job(
            settings.seed,
            settings.paths,
            settings.profile,
            settings.corpora,
            plain=settings.plain,
            known_every=settings.known_every,
            compares=settings.against is not None,
            around=settings.around,
        )

    def results(self) -> Iterator[ExampleResult]:
        """Yield the results of the journal; then run until the examples are done or the time is over.

        Raises Stopped.
        """
        done = set()
        for each in self._journal.done() if self._journal is not None else ():
            # What is accounted for now happened then.
            self._clock.set(each.at)
            done.add(each.result.index)
            yield each.result
        for result in self._further(done):
            if self._journal is not None:
                self._journal.add(self._clock.now(), result)
            yield result

    def _further(self, done: set[int]) -> Iterator[ExampleResult]:
        """Run the other examples.

        No worker waits for a slow example: batches are queued by how many are in progress, and results that
        come early are kept until their turn.
        """
        indices = (index for index in self._settings.indices() if index not in done)
        queue: deque[_Batch] = deque()
        with Workers(self._settings.workers, tasks_each=BATCHES_EACH) as workers:

            def search(source: str, finding: Finding, kind: Kind) -> Explained | Leftover | Death | Failure:
                seconds = self._settings.example_seconds * PATIENCE
                task = workers.submit(seconds, uncovered, self._job, source, finding, kind)
                while not task.is_done(POLL) and not self._stopped:
                    if self._clock.is_past(GRACE):
                        return Death("hang", "the end of the campaign")
                    if not self._clock.is_over:
                        self._refill(workers, queue, indices)
                return task.wait(self._stop)

            uncovering = Uncovering(search, self._journal.remembered) if self._journal else Uncovering(search)
            while not self._clock.is_over:
                self._refill(workers, queue, indices)
                if not queue:
                    return
                if self._stopped:
                    raise Stopped
                if queue[0].task.is_done(POLL):
                    batch = queue.popleft()
                    answer = batch.task.wait(self._stop)
                    for result in self._results(workers, batch.indices, answer):
                        yield uncovering.completed(result)
            for result in self._finished(queue):
                if uncovering.knows(result):
                    yield uncovering.completed(result)
                else:
                    self.given_up += 1

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def _refill(self, workers: Workers, queue: deque[_Batch], indices: Iterator[int]) -> None:
        in_progress = sum(not batch.task.is_done() for batch in queue)
        while in_progress < AHEAD * self._settings.workers and len(queue) < KEPT:
            batch = tuple(islice(indices, min(1 + self._queued // self._settings.workers, BATCH)))
            if not batch:
                return
            seconds = self._settings.example_seconds * 2
            self._queued += 1
            queue.append(_Batch(batch, workers.submit(seconds, self._work, self._job, batch)))
            in_progress += 1

    def _finished(self, queue: deque[_Batch]) -> Iterator[ExampleResult]:
        """The time is over: yield the results that are there after a short grace, and count the others."""
        started = [batch for batch in queue if not batch.task.cancel()]
        for batch in started:
            while not batch.task.is_done(POLL) and not self._clock.is_past(GRACE):
                if self._stopped:
                    raise Stopped
            answer = batch.task.wait(self._stop) if batch.task.is_done() else None
            if isinstance(answer, tuple):
                yield from answer
            else:
                self.given_up += len(batch.indices)

    def _results(
        self, workers: Workers, batch: tuple[int, ...], answer: Results | Death | Failure
    ) -> Iterator[ExampleResult]:
        if isinstance(answer, tuple):
            yield from answer
        elif len(batch) > 1:
            # One of the examples killed the process. Run each alone, to find out which.
            for index in batch:
                yield from self._results(workers, (index,), self._alone(workers, index, self._job))
        elif isinstance(answer, Failure):
            yield _failed(batch[0], answer.error)
        else:
            yield self._deadly(workers, batch[0])

    def _alone(self, workers: Workers, index: int, job: Job, patience: int = 1) -> Results | Death | Failure:
        seconds = self._settings.example_seconds * patience
        return workers.submit(seconds, self._work, job, (index,)).wait(self._stop)

    def _deadly(self, workers: Workers, index: int) -> ExampleResult:
        """Find out which paths kill the process, and judge the others."""
        job = self._job
        drawn = workers.submit(self._settings.example_seconds, self._source, job, index)
        answer = drawn.wait(self._stop)
        if isinstance(answer, Failure):
            return _failed(index, answer.error)
        if isinstance(answer, Death):
            return _failed(index, RuntimeError(f"drawing the program ended in {answer.reason}"))
        source, tags = answer

        def judge(paths: tuple[Path, ...]) -> Results | Death | Failure:
            # Attributing findings to known bugs takes time, and a death needs none of it.
            return self._alone(workers, index, replace(job, paths=paths, attribute=False))

        found = post_mortem(judge, paths_for(index, job.paths, tags))
        if found.eager is not None:
            verdict = Verdict(False, f"eager {found.eager.kind}", (), (), 0.0)
            return ExampleResult(index, verdict, tags)
        rest = ExampleResult(index, Verdict(True, "", (), (), 0.0))
        if found.alive:
            rest = self._judged_together(workers, index, tuple(found.alive))
        if rest.verdict is None:
            return rest
        verdict = rest.verdict
        deaths = (PathResult(path, "finding", death.kind) for path, death in found.deaths.items())
        verdict = replace(
            verdict,
            valid=True,
            invalid_reason="",
            paths=(*verdict.paths, *deaths),
            findings=(*verdict.findings, *found.findings),
        )
        return replace(rest, verdict=verdict, tags=tags, source=source if verdict.findings else "")

    def _judged_together(self, workers: Workers, index: int, paths: tuple[Path, ...]) -> ExampleResult:
        """Judge the paths that are alive; without attribution, if that kills the process."""
        job = replace(self._job, paths=paths)
        answer = self._alone(workers, index, job, PATIENCE)
        if isinstance(answer, Death):
            answer = _with_remark(
                self._alone(workers, index, replace(job, attribute=False)),
                f"attribution ended in {answer.reason}",
            )
        if isinstance(answer, Failure):
            return _failed(index, answer.error)
        if isinstance(answer, Death):
            reason = f"judging together the paths that survive alone ended in {answer.reason}"
            return _failed(index, RuntimeError(reason))
        (result,) = answer
        return result


def _with_remark(answer: Results | Death | Failure, remark: str) -> Results | Death | Failure:
    """Say of every finding why it may be a known one."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(
        replace(
            result,
            standings={
                finding.fingerprint: Standing(remark=remark)
                for finding in (result.verdict.findings if result.verdict else ())
            },
        )
        for result in answer
    )


def _failed(index: int, error: BaseException) -> ExampleResult:
    text = "".join(traceback.format_exception(error))
    return ExampleResult(index, None, error=text)

"""Runs the examples of a campaign on worker processes; the results come in the order of the index."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from harness.engine.postmortem import post_mortem
from harness.engine.schedule import paths_for
from harness.engine.worker import ExampleResult, Job
from harness.judge.verdict import PathResult, Verdict
from harness.known.standing import Standing
from harness.processes.child import Death, Failure
from harness.processes.pool import Task, Workers

if TYPE_CHECKING:
    from threading import Event

    from harness.engine.clock import Clock
    from harness.engine.settings import Settings
    from harness.paths import Path

BATCH = 8
"""Examples per task: enough to make the cost of a task small, few enough to keep all workers busy."""
BATCHES_EACH = 100
"""A fresh worker replaces one that ran so many batches: caches, modules and memory never build up."""
AHEAD = 3
"""Batches queued per worker, so that no worker waits while results are taken in order."""
PATIENCE = 10
"""How many times the limit of an example it may take to find out which known bugs an example shows."""

Results: TypeAlias = tuple[ExampleResult, ...]
Work = Callable[[Job, Sequence[int]], Results]
Source = Callable[[int, int, str], tuple[str, tuple[str, ...]]]


class Examples:
    """The examples of one campaign. Iterate over ``results()`` once."""

    def __init__(
        self, settings: Settings, work: Work, source: Source, clock: Clock, stop: Event | None
    ) -> None:
        """``work`` runs a batch in a worker, ``source`` draws a program there; ``stop`` asks to stop."""
        self._settings = settings
        self._work = work
        self._source = source
        self._clock = clock
        self._stop = stop
        self._job = Job(
            settings.seed,
            settings.paths,
            settings.profile,
            settings.corpora,
            plain=settings.plain,
            known_every=settings.known_every,
        )

    def results(self) -> Iterator[ExampleResult]:
        """Run until the examples are done or the time is over. Raises Stopped."""
        settings = self._settings
        indices = settings.indices()
        queue: deque[tuple[tuple[int, ...], Task[Results]]] = deque()
        with Workers(settings.workers, tasks_each=BATCHES_EACH) as workers:
            while True:
                while len(queue) < AHEAD * settings.workers and not self._clock.is_over:
                    batch = tuple(islice(indices, BATCH))
                    if not batch:
                        break
                    seconds = settings.example_seconds * 2
                    queue.append((batch, workers.submit(seconds, self._work, self._job, batch)))
                if not queue:
                    return
                batch, task = queue.popleft()
                yield from self._results(workers, batch, task.wait(self._stop))

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
        drawn = workers.submit(self._settings.example_seconds, self._source, job.seed, index, job.profile)
        answer = drawn.wait(self._stop)
        if isinstance(answer, Failure):
            return _failed(index, answer.error)
        if isinstance(answer, Death):
            return _failed(index, RuntimeError(f"drawing the program ended in {answer.reason}"))
        source, tags = answer

        def judge(paths: tuple[Path, ...]) -> Results | Death | Failure:
            # Attributing findings to known bugs takes time, and a death needs none of it.
            return self._alone(workers, index, replace(job, paths=paths, attribute=False))

        found = post_mortem(judge, paths_for(index, job.paths))
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

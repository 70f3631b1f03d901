"""Runs the examples of a campaign on worker processes; the results come in the order of the index."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from exportdiff.fuzzing.campaign.engines import StartWorkers, local_workers
from exportdiff.fuzzing.campaign.example_queue import POLL, ExampleQueue, Queued
from exportdiff.fuzzing.campaign.exposing_fixes import ExposingFixes
from exportdiff.fuzzing.campaign.learner import Learner
from exportdiff.fuzzing.campaign.postmortem import post_mortem
from exportdiff.fuzzing.campaign.worker import (
    ExampleResult,
    Job,
    chosen_paths,
    exposing_fixes_of,
    failed_result,
    known_by_resemblance,
)
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.known.attribution.classification import Classification
from exportdiff.runtime.processes.child import Death, Stopped, TaskFailure
from exportdiff.runtime.processes.executor import Executor, Task

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.fuzzing.campaign.journal import Journal
    from exportdiff.fuzzing.campaign.settings import CampaignSettings
    from exportdiff.known.attribution.classification import ClassificationKind
    from exportdiff.known.attribution.explained import ExplainedFinding
    from exportdiff.known.attribution.residual import ResidualFinding
    from exportdiff.runtime.paths import Path

GRACE = 2.0
"""Seconds for which examples in progress may continue after the time is over."""
PATIENCE = 10
"""The limit for finding out which known bugs an example shows, as a multiple of the limit of an example."""

T = TypeVar("T")
Results: TypeAlias = tuple[ExampleResult, ...]
RunExamples = Callable[[Job, Sequence[int]], Results]
Draw = Callable[[Job, int], tuple[str, tuple[str, ...]]]


class _Asking:
    """Runs one task at a time in a worker; the other workers get further examples meanwhile."""

    def __init__(self, workers: Executor, queue: ExampleQueue[Results]) -> None:
        self._workers = workers
        self._queue = queue

    def ask(self, seconds: float, task: Callable[..., T], *args: object) -> T | Death | TaskFailure:
        """Return ``task(*args)``. Raises Stopped."""
        return self._queue.answer(self._workers.submit(seconds, task, *args))


class ExampleRunner:
    """The examples of one campaign. Iterate over ``results()`` once."""

    def __init__(
        self,
        settings: CampaignSettings,
        work: RunExamples,
        source: Draw,
        clock: Clock,
        stop: Event | None,
        journal: Journal | None = None,
        start: StartWorkers = local_workers,
        learner: Learner | None = None,
    ) -> None:
        """``work`` runs examples in a worker, ``source`` draws one there; setting ``stop`` ends the run.

        ``journal`` has the results of an earlier run, and gets those of this one. ``start`` starts workers.
        """
        self._start = start
        self._journal = journal
        self._settings = settings
        self._work = work
        self._source = source
        self._clock = clock
        self._stop = stop
        self._queue: ExampleQueue[Results] | None = None
        """None: no workers run."""
        self.given_up = 0
        """Examples that were in progress when the time was over."""
        self.learner = learner or Learner(settings.learned, settings.shard[1])
        self._job = Job(
            settings.seed,
            settings.paths,
            settings.profile,
            settings.corpora,
            plain=settings.plain,
            known_every=settings.known_every,
            compares=settings.against is not None,
            around=settings.around,
            near=settings.near,
        )

    def results(self) -> Generator[ExampleResult]:
        """Yield the results of the journal; then run until the examples are done or the time is over.

        Raises Stopped.
        """
        done = set()
        for each in self._journal.done() if self._journal is not None else ():
            # The result is as old as the journal says.
            self._clock.set(each.at)
            done.add(each.result.index)
            self.learner.add(each.result)
            yield each.result
        for result in self._further(done):
            if self._journal is not None:
                self._journal.add(self._clock.now(), result)
            self.learner.add(result)
            yield result

    def meanwhile(self, function: Callable[..., T]) -> Callable[..., T]:
        """Return the same function; workers get further examples while it runs."""

        def run(*args: Any, **named: Any) -> T:
            call = partial(function, *args, **named)
            return call() if self._queue is None else self._queue.meanwhile(call)

        return run

    def _further(self, done: set[int]) -> Iterator[ExampleResult]:
        """Run the other examples.

        No worker waits for a slow example: further ones are queued while it runs, and results that come
        early wait until their turn.
        """
        indices = (index for index in self._settings.indices() if index not in done)
        with closing(self._start(self._settings)) as workers:

            def submit(index: int) -> Task[Results]:
                job = self._job_of(index)
                return workers.submit(self._settings.example_seconds * 2, self._work, job, (index,))

            queue = ExampleQueue(
                submit, indices, self.learner.may_start, self._settings.workers, self._clock, self._stop
            )
            asking = _Asking(workers, queue)

            def search(
                source: str, finding: Finding, kind: ClassificationKind
            ) -> ExplainedFinding | ResidualFinding | Death | TaskFailure:
                seconds = self._settings.example_seconds * PATIENCE
                task = workers.submit(seconds, exposing_fixes_of, self._job, source, finding, kind)
                while not task.is_done(POLL) and not self._stopped:
                    if self._clock.is_past(GRACE):
                        return Death("hang", "the end of the campaign")
                    queue.refill()
                return task.wait(self._stop)

            exposing_fixes = (
                ExposingFixes(search, self._journal.remembered) if self._journal else ExposingFixes(search)
            )
            self._queue = queue
            try:
                for each in queue.finished():
                    for result in self._results(asking, each.number, each.task.wait(self._stop)):
                        yield exposing_fixes.completed(result)
                for result in self._finished(queue.cancel_waiting()):
                    if exposing_fixes.knows(result):
                        yield exposing_fixes.completed(result)
                    else:
                        self.given_up += 1
            finally:
                self._queue = None

    def _job_of(self, index: int) -> Job:
        return replace(self._job, factors=self.learner.factors(index))

    @property
    def _stopped(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def _finished(self, started: Sequence[Queued[Results]]) -> Iterator[ExampleResult]:
        """After the end of the time: yield the results that arrive within ``GRACE``, and count the others."""
        for each in started:
            while not each.task.is_done(POLL) and not self._clock.is_past(GRACE):
                if self._stopped:
                    raise Stopped
            answer = each.task.wait(self._stop) if each.task.is_done() else None
            if isinstance(answer, tuple):
                yield from answer
            else:
                self.given_up += 1

    def _results(
        self, asking: _Asking, index: int, answer: Results | Death | TaskFailure
    ) -> Iterator[ExampleResult]:
        if isinstance(answer, tuple):
            yield from answer
        elif isinstance(answer, TaskFailure):
            yield failed_result(index, answer.error)
        else:
            yield self._deadly(asking, index)

    def _alone(
        self, asking: _Asking, index: int, job: Job, patience: int = 1
    ) -> Results | Death | TaskFailure:
        seconds = self._settings.example_seconds * patience
        return asking.ask(seconds, self._work, job, (index,))

    def _deadly(self, asking: _Asking, index: int) -> ExampleResult:
        """Find out which paths kill the process, and judge the others."""
        job = self._job_of(index)
        answer = asking.ask(self._settings.example_seconds, self._source, job, index)
        if isinstance(answer, TaskFailure):
            return failed_result(index, answer.error)
        if isinstance(answer, Death):
            return failed_result(index, RuntimeError(f"drawing the program ended in {answer.reason}"))
        source, tags = answer

        def judge(paths: tuple[Path, ...]) -> Results | Death | TaskFailure:
            # Finding out which known bugs it shows takes time, and does not help here.
            return self._alone(asking, index, replace(job, paths=paths, on_all_paths=True, attribute=False))

        found = post_mortem(judge, chosen_paths(job, index, tags))
        if found.eager is not None:
            verdict = Verdict(False, f"eager {found.eager.kind}", (), (), 0.0)
            return ExampleResult(index, verdict, tags)
        rest = ExampleResult(index, Verdict(True, "", (), (), 0.0))
        if found.alive:
            rest = self._judged_together(asking, index, tuple(found.alive))
        if rest.verdict is None:
            return rest
        verdict = rest.verdict
        deaths = (
            PathResult(path, "finding", death.kind, outcome="differs") for path, death in found.deaths.items()
        )
        verdict = replace(
            verdict,
            valid=True,
            invalid_reason="",
            paths=(*verdict.paths, *deaths),
            findings=(*verdict.findings, *found.findings),
        )
        rest = self._resembling(asking, replace(rest, verdict=verdict, tags=tags), source)
        return replace(rest, source=source if verdict.findings else "")

    def _resembling(self, asking: _Asking, result: ExampleResult, source: str) -> ExampleResult:
        """Explain by entries without a fix what is not explained. Attribution may have killed its process."""
        known = {part.finding.fingerprint for part in result.known}
        findings = result.verdict.findings if result.verdict is not None else ()
        left = [finding for finding in findings if finding.fingerprint not in known]
        if not left:
            return result
        seconds = self._settings.example_seconds
        explained = asking.ask(seconds, known_by_resemblance, self._job, source, result.tags, left)
        if isinstance(explained, Death | TaskFailure):
            return result
        more = {part.finding.fingerprint for part in explained}
        others = {name: each for name, each in result.classifications.items() if name not in more}
        return replace(result, known=(*result.known, *explained), classifications=others)

    def _judged_together(self, asking: _Asking, index: int, paths: tuple[Path, ...]) -> ExampleResult:
        """Judge the paths that do not kill the process; without attribution, if that kills it."""
        job = replace(self._job, paths=paths, on_all_paths=True)
        answer = self._alone(asking, index, job, PATIENCE)
        if isinstance(answer, Death):
            answer = _with_remark(
                self._alone(asking, index, replace(job, attribute=False)),
                f"attribution ended in {answer.reason}",
            )
        if isinstance(answer, TaskFailure):
            return failed_result(index, answer.error)
        if isinstance(answer, Death):
            reason = f"judging together the paths that survive alone ended in {answer.reason}"
            return failed_result(index, RuntimeError(reason))
        (result,) = answer
        return result


def _with_remark(answer: Results | Death | TaskFailure, remark: str) -> Results | Death | TaskFailure:
    """Add to every finding why it may be known."""
    if not isinstance(answer, tuple):
        return answer
    return tuple(
        replace(
            result,
            classifications={
                finding.fingerprint: Classification(remark=remark)
                for finding in (result.verdict.findings if result.verdict else ())
            },
        )
        for result in answer
    )

"""The engine: many examples on many processes, as one stream of events in the order of the index."""

from __future__ import annotations

import pathlib
import platform
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import count, islice

from harness.checks.alive import ALIVE, ProcessDied
from harness.engine import events
from harness.engine.schedule import paths_for
from harness.engine.triage import Cause, Witness
from harness.engine.worker import ExampleResult, Job, run_batch
from harness.findings import Finding
from harness.judge.verdict import PathResult, Verdict
from harness.known.attribution import knowledge
from harness.minimizing import Minimized, minimize, ship
from harness.patching.fixes import Fix
from harness.paths import Path
from harness.processes.pool import Death, Failure, Stopped, Task, Workers
from harness.programs import DEFAULT_PROFILE, program_source
from harness.repro import repro_source
from harness.repro.confirm import Confirmation, confirm
from harness.source.canonical import fingerprint

BATCH = 8
"""Examples per task: enough to forget the cost of a task, few enough to keep all workers busy."""
BATCHES_EACH = 100
"""A worker is replaced after so many: caches, modules and memory never build up."""
AHEAD = 3
"""Batches queued per worker, so that none waits while results are taken in order."""
PATIENCE = 10
"""How many times longer than an example it may take to tell which known bugs an example shows."""

Work = Callable[[Job, Sequence[int]], tuple[ExampleResult, ...]]
Source = Callable[[int, int, str], tuple[str, tuple[str, ...]]]
Confirm = Callable[[str], Confirmation]
Minimize = Callable[..., Minimized]


@dataclass(frozen=True)
class Settings:
    """What to run."""

    paths: tuple[Path, ...]
    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    workers: int = 1
    device: str = "cpu"
    profile: str = DEFAULT_PROFILE
    shard: tuple[int, int] = (1, 1)
    example_seconds: float = 60.0
    """A program that takes longer hangs."""
    minimize_seconds: float = 0.0
    """For the program of each new finding, once the examples are done; 0: leave them as they are."""
    corpora: pathlib.Path | None = None
    """The corpus whose bugs are known; None: every finding is new."""

    def indices(self) -> Iterator[int]:
        """Return the examples of this shard, in order."""
        part, parts = self.shard
        mine = (index for index in count() if index % parts == part - 1)
        if self.examples is None:
            return mine
        return (index for index in range(self.examples) if index % parts == part - 1)


class Campaign:
    """One run. Iterate over ``run()`` once."""

    def __init__(
        self,
        settings: Settings,
        *,
        stop: threading.Event | None = None,
        work: Work = run_batch,
        source: Source = program_source,
        confirm: Confirm = confirm,
        minimize: Minimize = minimize,
    ) -> None:
        """Prepare a run.

        Setting ``stop`` ends the run early and cleanly. The rest is there for tests to replace.
        """
        self._settings = settings
        self._stop = stop or threading.Event()
        self._work = work
        self._source = source
        self._confirm = confirm
        self._minimize = minimize
        self._job = Job(settings.seed, settings.paths, settings.profile, settings.corpora)
        self._causes: dict[str, Cause] = {}
        self._met: set[str] = set()
        """The entries of the corpus that have shown."""
        self._started = time.monotonic()

    def run(self) -> Iterator[events.Event]:
        """Run, and tell what happens while it happens."""
        settings = self._settings
        self._started = time.monotonic()
        yield events.CampaignStarted(
            at=0.0,
            seed=settings.seed,
            examples=settings.examples,
            seconds=settings.seconds,
            workers=settings.workers,
            paths=tuple(str(path) for path in settings.paths),
            device=settings.device,
            profile=settings.profile,
            shard=settings.shard,
            torch=version("torch"),
            python=platform.python_version(),
        )
        reason: events.EndReason
        try:
            yield from self._examples()
            yield from self._shrink()
            yield from self._reduce()
            reason = "examples" if settings.examples is not None else "time"
            if self._over() and settings.seconds is not None:
                reason = "time"
        except Stopped:
            reason = "interrupted"
        except BrokenProcessPool:
            yield events.HarnessError(self._now(), None, traceback.format_exc())
            reason = "broken"
        yield events.CampaignFinished(self._now(), reason)

    def _now(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def _over(self) -> bool:
        limit = self._settings.seconds
        return limit is not None and time.monotonic() - self._started >= limit

    def _examples(self) -> Iterator[events.Event]:
        settings = self._settings
        indices = settings.indices()
        queue: deque[tuple[tuple[int, ...], Task[tuple[ExampleResult, ...]]]] = deque()
        with Workers(settings.workers, tasks_each=BATCHES_EACH) as workers:
            while True:
                while len(queue) < AHEAD * settings.workers and not self._over():
                    batch = tuple(islice(indices, BATCH))
                    if not batch:
                        break
                    seconds = settings.example_seconds * 2
                    queue.append((batch, workers.submit(seconds, self._work, self._job, batch)))
                if not queue:
                    return
                batch, task = queue.popleft()
                for result in self._results(workers, batch, task):
                    yield from self._account(result)

    def _results(
        self,
        workers: Workers,
        batch: tuple[int, ...],
        task: Task[tuple[ExampleResult, ...]],
    ) -> Iterator[ExampleResult]:
        answer = task.wait(self._stop)
        if isinstance(answer, tuple):
            yield from answer
        elif len(batch) > 1:
            # One of them killed the process: run each by itself, and the guilty one is known.
            for index in batch:
                alone = self._alone(workers, index, self._job)
                yield from self._results(workers, (index,), alone)
        elif isinstance(answer, Failure):
            yield _failed(batch[0], answer.error)
        else:
            yield self._post_mortem(workers, batch[0], answer)

    def _alone(
        self, workers: Workers, index: int, job: Job, patience: int = 1
    ) -> Task[tuple[ExampleResult, ...]]:
        return workers.submit(self._settings.example_seconds * patience, self._work, job, (index,))

    def _post_mortem(self, workers: Workers, index: int, death: Death) -> ExampleResult:
        """Find the paths that kill the process: first none at all, then one at a time; judge the others."""
        job = self._job
        drawn = workers.submit(self._settings.example_seconds, self._source, job.seed, index, job.profile)
        answer = drawn.wait(self._stop)
        if isinstance(answer, Failure):
            return _failed(index, answer.error)
        if isinstance(answer, Death):
            return _failed(index, RuntimeError(f"drawing the program ended in {answer.reason}"))
        source, features = answer
        eager = self._alone(workers, index, replace(job, paths=(), corpora=None)).wait(self._stop)
        if isinstance(eager, Death):
            verdict = Verdict(False, f"eager {eager.kind}", (), (), 0.0)
            return ExampleResult(index, verdict, features)
        alive: list[Path] = []
        results: list[PathResult] = []
        findings: list[Finding] = []
        for path in paths_for(index, job.paths):
            # Without the corpus: it is the path that is asked after, not what its findings are explained by.
            one = self._alone(workers, index, replace(job, paths=(path,), corpora=None)).wait(self._stop)
            if isinstance(one, Death):
                add_death(findings, path, one)
                results.append(PathResult(path, "finding", one.kind))
            else:
                alive.append(path)
        known: dict[str, tuple[str, ...]] = {}
        torch_seconds = 0.0
        if alive:
            judged = self._alone(workers, index, replace(job, paths=tuple(alive)), PATIENCE)
            rest = judged.wait(self._stop)
            if isinstance(rest, Failure):
                return _failed(index, rest.error)
            if isinstance(rest, Death):
                reason = f"what is alive by itself, and told from known bugs, ended in {rest.reason}"
                return _failed(index, RuntimeError(reason))
            (result,) = rest
            if result.verdict is None:
                return result
            results = [*result.verdict.paths, *results]
            findings = [*result.verdict.findings, *findings]
            torch_seconds, known = result.verdict.torch_seconds, result.known
        verdict = Verdict(True, "", tuple(results), tuple(findings), torch_seconds)
        return ExampleResult(index, verdict, features, source if findings else "", known=known)

    def _account(self, result: ExampleResult) -> Iterator[events.Event]:
        if result.verdict is None:
            yield events.HarnessError(self._now(), result.index, result.error)
            return
        verdict = result.verdict
        # One program may show a cause on several paths; the first stands for it.
        findings = {finding.fingerprint: finding for finding in reversed(verdict.findings)}
        known = {findings.pop(fingerprint): names for fingerprint, names in result.known.items()}
        yield events.ExampleDone(
            at=self._now(),
            index=result.index,
            valid=verdict.valid,
            invalid_reason=verdict.invalid_reason,
            features=result.features,
            paths=verdict.paths,
            fingerprints=tuple(sorted(findings)),
            known=tuple(sorted({name for names in known.values() for name in names})),
            torch_seconds=round(verdict.torch_seconds, 4),
            seconds=round(result.seconds, 4),
        )
        for finding, names in known.items():
            for name in sorted(set(names) - self._met):
                self._met.add(name)
                yield events.KnownSeen(self._now(), name, finding, result.index)
        for short_id, finding in sorted(findings.items()):
            cause = self._causes.setdefault(short_id, Cause())
            witness = Witness(finding, result.index, result.source)
            cause.add(witness)
            if cause.wants_confirming:
                yield from self._try(cause, witness)

    def _try(self, cause: Cause, witness: Witness) -> Iterator[events.Event]:
        """Run the repro file of a witness in a fresh process; show it if it shows the bug."""
        cause.attempts += 1
        finding, example, source = witness.finding, witness.example, witness.source
        try:
            repro = repro_source(finding, source)
            answer = self._confirm(repro)
        except Exception:
            yield events.HarnessError(self._now(), example, traceback.format_exc())
            return
        if not answer.confirmed:
            if cause.shown is None:
                yield events.FindingUnconfirmed(self._now(), finding, example, answer.reason)
            return
        if cause.shown is None:
            yield events.FindingFound(self._now(), finding, example, source, repro)
        else:
            yield events.FindingShrunk(self._now(), finding, example, source, repro)
        cause.shown = witness

    def _shrink(self) -> Iterator[events.Event]:
        """Let the smallest program that confirms stand for its cause."""
        for _, cause in sorted(self._causes.items()):
            for witness in cause.better:
                if self._stop.is_set():
                    raise Stopped
                before = cause.shown
                yield from self._try(cause, witness)
                if cause.shown is not before:
                    break

    def _reduce(self) -> Iterator[events.Event]:
        """Make the program of each new finding as small as the time allows, some at a time."""
        settings = self._settings
        shown = [cause.shown for _, cause in sorted(self._causes.items()) if cause.shown is not None]
        if not settings.minimize_seconds or not shown:
            return
        # With the fixes in place, no known bug takes the place of the new one on the way.
        fixes = tuple(knowledge(settings.corpora).fixes.values()) if settings.corpora else ()
        with ThreadPoolExecutor(settings.workers) as threads:
            tasks = [threads.submit(self._reduced, witness, fixes) for witness in shown]
            try:
                for witness, task in zip(shown, tasks, strict=True):
                    yield from self._told(witness, task)
            except Stopped:
                threads.shutdown(cancel_futures=True)
                raise

    def _reduced(self, witness: Witness, fixes: tuple[Fix, ...]) -> Minimized:
        return self._minimize(
            witness.source,
            witness.finding,
            seconds=self._settings.minimize_seconds,
            stop=self._stop,
            fixes=fixes,
        )

    def _told(self, witness: Witness, task: Future[Minimized]) -> Iterator[events.Event]:
        """Wait for a minimized program; tell of it if a fresh process confirms it."""
        try:
            small = task.result()
            if self._stop.is_set():
                raise Stopped
            shipped = ship(small, self._confirm)
            found, source = shipped.finding, shipped.source
            digest = fingerprint(str(found.path), found.check, found.kind, found.signature, source)
            finding = replace(found, minimal=digest)
            repro = repro_source(finding, source)
        except Stopped:
            raise
        except Exception:
            yield events.HarnessError(self._now(), witness.example, traceback.format_exc())
            return
        if shipped.confirmed:
            was = witness.finding.fingerprint
            yield events.FindingMinimized(
                self._now(), was, finding, witness.example, source, repro, small.seconds, small.tried
            )


def add_death(findings: list[Finding], path: Path, death: Death) -> None:
    """Add the finding for a path that takes the process down, or never ends; one for all paths."""
    new = Finding(path, ALIVE, ProcessDied(death.kind, death.reason))
    for place, old in enumerate(findings):
        if old.signature == new.signature:
            findings[place] = replace(old, shown_on=(*old.shown_on, path))
            return
    findings.append(new)


def _failed(index: int, error: BaseException) -> ExampleResult:
    text = "".join(traceback.format_exception(error))
    return ExampleResult(index, None, error=text)

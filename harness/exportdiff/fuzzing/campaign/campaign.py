"""A campaign: many examples on many processes, as one stream of events in the order of the index."""

from __future__ import annotations

import platform
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign import events
from exportdiff.fuzzing.campaign.clock import Clock
from exportdiff.fuzzing.campaign.comparing import TorchComparison
from exportdiff.fuzzing.campaign.confirming import Confirm, Confirmer
from exportdiff.fuzzing.campaign.engines import StartWorkers, local_workers
from exportdiff.fuzzing.campaign.examples import Draw, ExampleRunner, RunExamples
from exportdiff.fuzzing.campaign.final_minimizing import FinalMinimizer, Minimize
from exportdiff.fuzzing.campaign.learner import Learner
from exportdiff.fuzzing.campaign.own_errors import ErrorCount, TooManyErrors
from exportdiff.fuzzing.campaign.triage import Witness
from exportdiff.fuzzing.campaign.worker import ExampleResult, drawn, run_examples
from exportdiff.fuzzing.minimizing import minimize
from exportdiff.fuzzing.other_torch.connection import OtherTorch
from exportdiff.known.attribution.classification import NEW
from exportdiff.repro.confirm import confirm
from exportdiff.runtime.processes.child import Stopped
from exportdiff.runtime.processes.processors import processors

if TYPE_CHECKING:
    from exportdiff.fuzzing.campaign.journal import Journal
    from exportdiff.fuzzing.campaign.settings import CampaignSettings
    from exportdiff.judging.results import Verdict


class Campaign:
    """One run. Iterate over ``run()`` once."""

    def __init__(
        self,
        settings: CampaignSettings,
        *,
        stop: threading.Event | None = None,
        journal: Journal | None = None,
        start: StartWorkers = local_workers,
        work: RunExamples = run_examples,
        source: Draw = drawn,
        confirm: Confirm = confirm,
        minimize: Minimize = minimize,
    ) -> None:
        """Prepare a run.

        Setting ``stop`` ends the run early and cleanly. ``journal`` has the results of an earlier run of the
        same campaign, and gets those of this run. ``start`` starts the workers. Only tests give the other
        arguments.
        """
        self._journal = journal
        self._start = start
        self._settings = settings
        self._stop = stop or threading.Event()
        self._work = work
        self._source = source
        self._confirm = confirm if journal is None else journal.remembered("confirmed", confirm)
        self._minimize = minimize
        self._given_up = 0
        self._fuzzing = 0.0
        self._learner = Learner(settings.learned)
        self._known: set[str] = set()
        """The root causes of the corpus that a program has shown."""

    def run(self) -> Iterator[events.Event]:
        """Run the campaign, and yield each event as it happens."""
        clock = Clock(self._settings.seconds)
        yield self._started()
        errors = ErrorCount()
        reason: events.EndReason
        try:
            with closing(self._phases(clock)) as happening:
                for event in happening:
                    yield event
                    if isinstance(event, events.HarnessError):
                        errors.add(event)
            reason = "examples" if self._settings.examples is not None else "time"
            if clock.is_over:
                reason = "time"
        except Stopped:
            reason = "interrupted"
        except TooManyErrors:
            reason = "errors"
        fuzzing = self._fuzzing or clock.now()
        yield events.CampaignFinished(clock.now(), reason, self._given_up, fuzzing, self._learner.yields)

    def _started(self) -> events.CampaignStarted:
        settings = self._settings
        return events.CampaignStarted(
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
            mended=settings.mends,
            known_every=settings.known_every if settings.mends else 1,
            left_out=settings.left_out,
            around=settings.around.written if settings.around is not None else "",
            near=settings.near.written if settings.near is not None else None,
            against=settings.against.label if settings.against is not None else "",
            environment=self._environment(),
        )

    def _environment(self) -> events.CampaignEnvironment:
        begun = None if self._journal is None else self._journal.begun
        return events.CampaignEnvironment(
            began="" if begun is None else begun.began,
            exportdiff="" if begun is None else begun.inputs.exportdiff,
            corpus="" if begun is None else begun.inputs.corpus,
            platform=platform.platform(),
            processors=processors(),
        )

    def _phases(self, clock: Clock) -> Generator[events.Event]:
        """Run the examples, confirm smaller programs, minimize, and compare with the other torch."""
        settings, stop = self._settings, self._stop
        examples = ExampleRunner(settings, self._work, self._source, clock, stop, self._journal, self._start)
        self._learner = examples.learner
        confirmer = Confirmer(examples.meanwhile(self._confirm), clock, settings.corpora)
        with ExitStack() as processes:
            comparison: TorchComparison | None = None
            if settings.against is not None:
                there = OtherTorch(settings.against, max(1, settings.workers // 2))
                processes.enter_context(there)
                comparison = TorchComparison(there, settings, self._confirm, clock, stop)
            for result in examples.results():
                yield from _shared(comparison, self._account(result, confirmer, clock))
                if comparison is not None:
                    comparison.take(result)
                    yield from comparison.ready()
            self._given_up, self._fuzzing = examples.given_up, clock.now()
            yield from _shared(comparison, confirmer.confirm_smaller(stop))
            minimizer = FinalMinimizer(settings, self._minimize, self._confirm, clock, stop)
            left = [each for each in confirmer.confirmed if _is_minimized(each)]
            yield from _shared(comparison, minimizer.run(left))
            if comparison is not None:
                yield from comparison.finish()

    def _account(self, result: ExampleResult, confirmer: Confirmer, clock: Clock) -> Iterator[events.Event]:
        """Yield the events of one example, and confirm its findings that the corpus does not explain."""
        if result.verdict is None:
            yield events.HarnessError(
                clock.now(), result.index, result.error, result.error_place, result.source
            )
            return
        # One program may show a fingerprint on several paths; the first one counts.
        new = {finding.fingerprint: finding for finding in reversed(result.verdict.findings)}
        for part in result.known:
            new.pop(part.finding.fingerprint, None)
        known = (*result.known, *result.sample)
        names = {cause.root for part in known for cause in part.causes}
        yield _done(result, result.verdict, tuple(sorted(new)), tuple(sorted(names)), clock)
        for part in known:
            for cause in part.causes:
                if cause.root not in self._known:
                    self._known.add(cause.root)
                    yield events.KnownSeen(
                        clock.now(), cause.root, cause.entry, part.finding, result.index, part.remark, part.by
                    )
        for fingerprint, finding in sorted(new.items()):
            classification = result.classifications.get(fingerprint, NEW)
            yield from confirmer.add(Witness(finding, result.index, result.source, classification))
        if any(_is_minimized(witness) for witness in confirmer.confirmed):
            clock.reserve(self._settings.reserved)


def _is_minimized(witness: Witness) -> bool:
    """Whether a finding is minimized. For the maintainer of a wrong fix, any program is good enough."""
    return witness.classification.kind != "regression"


def _shared(comparison: TorchComparison | None, happening: Iterator[events.Event]) -> Iterator[events.Event]:
    """Yield events, and let the comparison with another torch see them."""
    for event in happening:
        if comparison is not None:
            comparison.see(event)
        yield event


def _done(
    result: ExampleResult, verdict: Verdict, new: tuple[str, ...], known: tuple[str, ...], clock: Clock
) -> events.ExampleDone:
    return events.ExampleDone(
        at=clock.now(),
        index=result.index,
        valid=verdict.valid,
        invalid_reason=verdict.invalid_reason,
        tags=result.tags,
        paths=verdict.paths,
        fingerprints=new,
        known=known,
        torch_seconds=round(verdict.torch_seconds, 4),
        seconds=round(result.seconds, 4),
        sampled=result.sampled,
        failed_fixes=result.failed_fixes,
    )

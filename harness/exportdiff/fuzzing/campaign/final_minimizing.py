"""Minimizes the programs of the new and masked findings at the end of a campaign."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.program_text.canonical import fingerprint
from exportdiff.fuzzing.campaign import events
from exportdiff.fuzzing.campaign.confirming import needs, with_fixes
from exportdiff.fuzzing.campaign.own_errors import harness_error
from exportdiff.fuzzing.minimizing import Minimized, NotShownError, ship
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.repro import repro_source
from exportdiff.runtime.processes.child import Stopped

if TYPE_CHECKING:
    from threading import Event

    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.fuzzing.campaign.confirming import Confirm
    from exportdiff.fuzzing.campaign.settings import CampaignSettings
    from exportdiff.fuzzing.campaign.triage import Witness
    from exportdiff.runtime.patching.fixes import Fix

Minimize = Callable[..., Minimized]

NO_TIME = "no time was left"
CONFIRMING = 3.0
"""Seconds that a fresh process needs to confirm a minimized program."""
AT_LEAST = 0.1
"""A finding is minimized only if this share of the time for one finding is left, because starting takes
seconds."""


@dataclass
class _Task:
    """One finding."""

    witness: Witness
    since: float | None = None
    """When a thread began with it."""
    limit: float = 0.0
    """The seconds that it may take."""


class FinalMinimizer:
    """Minimizes several programs at a time: one per thread, and one worker process per thread."""

    def __init__(
        self, settings: CampaignSettings, minimize: Minimize, confirm: Confirm, clock: Clock, stop: Event
    ) -> None:
        """``minimize`` makes a program smaller; ``confirm`` runs the repro file of the result."""
        self._settings = settings
        self._minimize = minimize
        self._confirm = confirm
        self._clock = clock
        self._stop = stop
        self._until = 0.0

    def run(self, witnesses: Sequence[Witness]) -> Iterator[events.Event]:
        """Minimize the program of each witness within the time of the settings. Raises Stopped."""
        settings = self._settings
        if not settings.minimize_seconds or not witnesses:
            return
        # With the fixes of all known bugs installed, no known bug can replace the new one. A masked finding
        # shows with all of them as well; its repro file is confirmed with the few exposing fixes.
        fixes = knowledge(settings.corpora).usable_fixes if settings.corpora else ()
        self._until = time.monotonic() + min(settings.minimize_total, self._clock.left - CONFIRMING)
        tasks = [_Task(witness) for witness in witnesses]
        with ThreadPoolExecutor(settings.workers) as threads:
            results = [threads.submit(self._minimized, task, fixes) for task in tasks]
            try:
                for number, (task, result) in enumerate(zip(tasks, results, strict=True), 1):
                    if not result.done():
                        yield from self._started(task, number, len(tasks))
                    yield from self._finished(task.witness, result)
            except Stopped:
                threads.shutdown(cancel_futures=True)
                raise

    def _limit(self) -> float:
        """Return the seconds for the next finding; 0: no time is left."""
        one = self._settings.minimize_seconds
        left = min(one, self._until - time.monotonic())
        return left if left >= AT_LEAST * one else 0.0

    def _minimized(self, task: _Task, fixes: tuple[Fix, ...]) -> Minimized | None:
        limit = self._limit()
        if not limit:
            return None
        task.limit, task.since = limit, time.monotonic()
        return self._minimize(
            task.witness.source, task.witness.finding, seconds=limit, stop=self._stop, fixes=fixes
        )

    def _started(self, task: _Task, number: int, total: int) -> Iterator[events.Event]:
        """Yield the event that the campaign waits for a finding, unless the finding has no time."""
        limit = task.limit or self._limit()
        if limit:
            spent = 0.0 if task.since is None else round(time.monotonic() - task.since, 3)
            yield events.MinimizingStarted(
                self._clock.now(), number, total, task.witness.finding.fingerprint, spent, round(limit, 3)
            )

    def _finished(self, witness: Witness, result: Future[Minimized | None]) -> Iterator[events.Event]:
        """Wait for a minimized program; yield its event if a fresh process confirms it."""
        was = witness.finding.fingerprint
        try:
            small = result.result()
            if self._stop.is_set():
                raise Stopped
            if small is None:
                yield events.NotMinimized(self._clock.now(), was, NO_TIME)
            else:
                yield self._confirmed(witness, small)
        except Stopped:
            raise
        except NotShownError as error:
            yield events.NotMinimized(self._clock.now(), was, str(error))
        except Exception as error:
            yield harness_error(self._clock.now(), witness.example, error)

    def _confirmed(self, witness: Witness, small: Minimized) -> events.Event:
        was, classification = witness.finding.fingerprint, witness.classification
        fixes = needs(classification)
        shipped = ship(small, with_fixes(self._confirm, classification, self._settings.corpora), fixes)
        if not shipped.confirmed:
            reason = f"no fresh process shows a smaller program's difference: {shipped.reason}"
            return events.NotMinimized(self._clock.now(), was, reason)
        found, source = shipped.finding, shipped.source
        digest = fingerprint(str(found.path), found.check, found.kind, found.signature, source)
        finding = replace(found, minimal=digest)
        repro = repro_source(finding, source, fixes)
        done = (witness.example, source, repro, small.seconds, small.tried)
        return events.FindingMinimized(self._clock.now(), was, finding, *done, classification, shipped.reason)

"""Minimizes the program of each new finding at the end of a campaign."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.engine import events
from harness.known.attribution import knowledge
from harness.minimizing import Minimized, ship
from harness.processes.child import Stopped
from harness.repro import repro_source
from harness.source.canonical import fingerprint

if TYPE_CHECKING:
    from threading import Event

    from harness.engine.clock import Clock
    from harness.engine.confirming import Confirm
    from harness.engine.settings import Settings
    from harness.engine.triage import Witness
    from harness.patching.fixes import Fix

Minimize = Callable[..., Minimized]


class FinalMinimizer:
    """Minimizes several programs at a time, one a thread; each thread has a worker process of its own."""

    def __init__(
        self, settings: Settings, minimize: Minimize, confirm: Confirm, clock: Clock, stop: Event
    ) -> None:
        """``minimize`` makes a program smaller; ``confirm`` runs the repro file of the result."""
        self._settings = settings
        self._minimize = minimize
        self._confirm = confirm
        self._clock = clock
        self._stop = stop

    def run(self, witnesses: Sequence[Witness]) -> Iterator[events.Event]:
        """Minimize the program of each witness within the time of the settings. Raises Stopped."""
        settings = self._settings
        if not settings.minimize_seconds or not witnesses:
            return
        # While the fixes of the known bugs are applied, no known bug can replace the new one.
        fixes = knowledge(settings.corpora).held if settings.corpora else ()
        with ThreadPoolExecutor(settings.workers) as threads:
            tasks = [threads.submit(self._minimized, witness, fixes) for witness in witnesses]
            try:
                for witness, task in zip(witnesses, tasks, strict=True):
                    yield from self._confirmed(witness, task)
            except Stopped:
                threads.shutdown(cancel_futures=True)
                raise

    def _minimized(self, witness: Witness, fixes: tuple[Fix, ...]) -> Minimized:
        return self._minimize(
            witness.source,
            witness.finding,
            seconds=self._settings.minimize_seconds,
            stop=self._stop,
            fixes=fixes,
        )

    def _confirmed(self, witness: Witness, task: Future[Minimized]) -> Iterator[events.Event]:
        """Wait for a minimized program; yield its event if a fresh process confirms it."""
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
            yield events.HarnessError(self._clock.now(), witness.example, traceback.format_exc())
            return
        if shipped.confirmed:
            was = witness.finding.fingerprint
            yield events.FindingMinimized(
                self._clock.now(), was, finding, witness.example, source, repro, small.seconds, small.tried
            )

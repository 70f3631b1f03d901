"""Compares the findings of a campaign with what another torch shows on the same programs.

Only some programs run on both: those of confirmed findings, those with a finding that only resembles a known
bug, and the sample on which plain torch is judged anyway. A finding that broke or was fixed is then confirmed
in fresh processes of both: the same repro file must show the bug on one torch and not on the other.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.fuzzing.campaign import events
from exportdiff.fuzzing.campaign.own_errors import harness_error
from exportdiff.fuzzing.other_torch.answering import program_answer
from exportdiff.fuzzing.other_torch.differences import PathDifference, change_of, differences
from exportdiff.fuzzing.other_torch.fixed_entries import fixed_entries
from exportdiff.fuzzing.other_torch.messages import (
    ErrorAnswer,
    FileAnswer,
    JudgeProgram,
    ProgramAnswer,
    ReproAnswer,
    RunFile,
    WriteRepro,
)
from exportdiff.known.attribution.explained import on_paths
from exportdiff.repro import repro_source
from exportdiff.runtime.processes.child import Stopped
from exportdiff.runtime.processes.script import SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from threading import Event

    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.fuzzing.campaign.confirming import Confirm
    from exportdiff.fuzzing.campaign.settings import CampaignSettings
    from exportdiff.fuzzing.campaign.worker import ExampleResult
    from exportdiff.fuzzing.other_torch.connection import OtherTorch
    from exportdiff.fuzzing.other_torch.messages import Answer
    from exportdiff.judging.results import Verdict

    Found: TypeAlias = events.FindingFound | events.FindingShrunk | events.FindingMinimized
    Key: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class _Broken:
    """A finding of plain torch that the other torch does not show, before it is confirmed."""

    finding: Finding
    example: int
    source: str
    causes: tuple[str, ...]


class TorchComparison:
    """Asks the other torch while a campaign runs, and reports the differences at the end."""

    def __init__(
        self, other: OtherTorch, settings: CampaignSettings, confirm: Confirm, clock: Clock, stop: Event
    ) -> None:
        """``other`` answers questions; ``confirm`` runs a repro file in a fresh process here."""
        self._other = other
        self._settings = settings
        self._confirm = confirm
        self._clock = clock
        self._stop = stop
        self._asked: deque[tuple[Future[Answer], Callable[[ProgramAnswer], None], int]] = deque()
        self._found: dict[str, Found] = {}
        self._broken: dict[str, _Broken] = {}
        self._others: dict[Key, tuple[PathDifference, int, str]] = {}
        self._programs: Counter[str | Key] = Counter()
        self._resembling: set[str] = set()

    def take(self, result: ExampleResult) -> None:
        """Ask the other torch about one example, if it is one of those to compare."""
        if result.plain is not None and result.plain.valid and result.plain.paths:
            self._ask_of_sample(result, result.plain)
        for part in result.known:
            new = part.by == "resemblance" and part.finding.fingerprint not in self._resembling
            if new and result.source:
                self._resembling.add(part.finding.fingerprint)
                causes = tuple(cause.name for cause in part.causes)
                self._ask_of_finding(part.finding, result, causes)

    def see(self, event: events.Event) -> None:
        """Remember the program and the file of each finding."""
        if isinstance(event, events.FindingFound | events.FindingShrunk):
            self._found[event.finding.fingerprint] = event
        elif isinstance(event, events.FindingMinimized):
            same = (
                key
                for key, each in self._found.items()
                if each.finding.fingerprint == event.finding.fingerprint
            )
            if any(key != event.was for key in same):
                del self._found[event.was]
            else:
                self._found[event.was] = event

    def ready(self) -> Iterator[events.Event]:
        """Process the answers that have arrived."""
        while self._asked and self._asked[0][0].done():
            yield from self._take_answer()

    def finish(self) -> Iterator[events.Event]:
        """Wait for all answers, confirm the differences, and compare the findings. Raises Stopped."""
        found = [each for each in self._found.items() if each[1].classification.kind != "regression"]
        yield events.ComparingStarted(self._clock.now(), len(found), len(self._asked))
        while self._asked:
            self._wait(self._asked[0][0])
            yield from self._take_answer()
        asked = [(key, event, self._ask_of_file(event)) for key, event in found]
        for key, event, futures in asked:
            yield from self._of_finding(key, event, *map(self._wait, futures))
        for broken in self._broken.values():
            if broken.finding.fingerprint not in self._found:
                yield from self._guarded(broken.example, partial(self._of_broken, broken))
        for what, (difference, example, source) in self._others.items():
            yield from self._guarded(example, partial(self._of_other, what, difference, example, source))
        if self._settings.corpora is not None:
            workers = self._settings.workers
            names = fixed_entries(self._settings.corpora, self._other, workers, self._stop)
            yield events.EntriesFixed(self._clock.now(), names)

    # --- questions ---

    def _ask_of_sample(self, result: ExampleResult, plain: Verdict) -> None:
        paths = [each.path for each in plain.paths]
        ours = program_answer(plain, paths)
        causes = {part.finding.signature: part for part in (*result.known, *result.sample)}

        def compare(theirs: ProgramAnswer) -> None:
            on = {path: [*differences(ours.on(str(path)), theirs.on(str(path)))] for path in paths}
            for finding in plain.findings:
                broken = tuple(
                    path
                    for path in finding.shown_on
                    if any(
                        each.change == "torch regression" and each.here == finding.signature
                        for each in on.get(path, ())
                    )
                )
                if broken:
                    part = causes.get(finding.signature)
                    names = tuple(cause.name for cause in part.causes) if part is not None else ()
                    self._break(_Broken(on_paths(finding, broken), result.index, result.source, names))
            seen: set[Key] = set()
            for each in (each for found in on.values() for each in found):
                if each.change != "torch regression":
                    # The first of several paths that show the same represents all.
                    key: Key = (each.change, "", each.here, each.there)
                    self._others.setdefault(key, (each, result.index, result.source))
                    seen.add(key)
            self._programs.update(seen)

        self._ask(JudgeProgram(result.source, tuple(map(str, paths))), compare, result.index)

    def _ask_of_finding(self, finding: Finding, result: ExampleResult, causes: tuple[str, ...]) -> None:
        def compare(theirs: ProgramAnswer) -> None:
            ok = tuple(path for path in finding.shown_on if theirs.on(str(path)).status == "ok")
            if ok:
                self._break(_Broken(on_paths(finding, ok), result.index, result.source, causes))

        question = JudgeProgram(result.source, tuple(map(str, finding.shown_on)))
        self._ask(question, compare, result.index)

    def _break(self, broken: _Broken) -> None:
        self._programs[broken.finding.fingerprint] += 1
        self._broken.setdefault(broken.finding.fingerprint, broken)

    def _ask(self, question: JudgeProgram, take: Callable[[ProgramAnswer], None], example: int) -> None:
        self._asked.append((self._other.ask(question), take, example))

    def _take_answer(self) -> Iterator[events.Event]:
        future, take, example = self._asked.popleft()
        answer = future.result()
        if isinstance(answer, ProgramAnswer):
            take(answer)
        elif isinstance(answer, ErrorAnswer):
            yield events.HarnessError(self._clock.now(), example, f"on the other torch: {answer.error}")

    def _wait(self, future: Future[Answer]) -> Answer:
        while not future.done():
            if self._stop.wait(POLL):
                raise Stopped
        return future.result()

    # --- answers ---

    def _ask_of_file(self, event: Found) -> tuple[Future[Answer], Future[Answer]]:
        """Ask what the program and the file of a finding show there, with the exposing fixes."""
        fixes, corpora = event.classification.fixes, str(self._settings.corpora or "")
        question = JudgeProgram(event.source, (str(event.finding.path),), fixes, corpora)
        return self._other.ask(question), self._other.ask(RunFile(event.repro, SECONDS, fixes, corpora))

    def _of_finding(self, key: str, event: Found, judged: Answer, ran: Answer) -> Iterator[events.Event]:
        finding = event.finding
        if not isinstance(judged, ProgramAnswer) or not isinstance(ran, FileAnswer):
            error = next(each.error for each in (judged, ran) if isinstance(each, ErrorAnswer))
            yield events.HarnessError(self._clock.now(), event.example, f"on the other torch: {error}")
            return
        there = judged.on(str(finding.path))
        change, reason = change_of(finding.signature, there, ran.code)
        yield events.TorchesCompared(
            self._clock.now(),
            change,
            key,
            str(finding.path),
            finding.signature,
            there.signatures[0] if there.signatures and change == "changed" else (),
            event.example,
            reason=reason,
            finding=finding,
        )

    def _of_broken(self, broken: _Broken) -> Iterator[events.Event]:
        finding = broken.finding
        repro = repro_source(finding, broken.source)
        there = self._other.ask(RunFile(repro, SECONDS))
        here, ran = self._confirm(repro), self._wait(there)
        if not here.confirmed or not isinstance(ran, FileAnswer) or ran.code != 0:
            return
        yield events.TorchesCompared(
            self._clock.now(),
            "torch regression",
            finding.fingerprint,
            str(finding.path),
            finding.signature,
            (),
            broken.example,
            self._programs[finding.fingerprint],
            finding=finding,
            causes=broken.causes,
            source=broken.source,
            repro=repro,
        )

    def _of_other(
        self, key: Key, difference: PathDifference, example: int, source: str
    ) -> Iterator[events.Event]:
        repro = fingerprint = ""
        if difference.change == "fixed":
            written = self._wait(self._other.ask(WriteRepro(source, difference.path, difference.there)))
            if not isinstance(written, ReproAnswer) or not written.text:
                return
            repro, fingerprint = written.text, written.fingerprint
            ran = self._wait(self._other.ask(RunFile(repro, SECONDS)))
            if not isinstance(ran, FileAnswer) or ran.code != 1 or self._confirm(repro).code != 0:
                return
        yield events.TorchesCompared(
            self._clock.now(),
            difference.change,
            fingerprint,
            difference.path,
            difference.here,
            difference.there,
            example,
            self._programs[key],
            source=source,
            repro=repro,
        )

    def _guarded(self, example: int, compare: Callable[[], Iterator[events.Event]]) -> Iterator[events.Event]:
        """Yield the events; an error of exportdiff's own code ends only this comparison."""
        if self._stop.is_set():
            raise Stopped
        try:
            yield from compare()
        except Stopped:
            raise
        except Exception as error:
            yield harness_error(self._clock.now(), example, error)


POLL = 0.1
"""Seconds between two checks whether the campaign should stop."""

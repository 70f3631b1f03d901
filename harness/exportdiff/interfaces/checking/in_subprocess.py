"""Judges a model in child processes, so that a path that kills its process, or hangs, becomes a finding."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.core.model_identity import ModelIdentity
from exportdiff.interfaces.checking.check_steps import (
    CheckStep,
    Confirming,
    Explaining,
    FindingConfirmed,
    FindingExplained,
    NotesRead,
    PathDone,
)
from exportdiff.interfaces.checking.confirmation import SecondJudgement
from exportdiff.interfaces.checking.given import NOTHING
from exportdiff.interfaces.checking.report import Report, assembled
from exportdiff.judging.causes import folded, over_paths
from exportdiff.judging.results import PathResult, Unjudged
from exportdiff.runtime.processes.child import (
    TIME_LIMIT,
    Child,
    Death,
    Stopped,
    TaskFailure,
    threads_of_user,
)

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from threading import Event

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.core.target import Target
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.given import Given
    from exportdiff.interfaces.checking.locating import Locator
    from exportdiff.judging.causes import PathFindings

HANG = 60.0
"""Seconds without an answer after which a path counts as a hang, if eager alone answers."""


@dataclass(frozen=True)
class LoadableModel:
    """A model that a child process can load."""

    written: str
    """Its name in messages, as the user wrote it."""
    load: Callable[[], Case]
    """Runs in child processes, so it must be picklable. Raises UsageError if the model cannot be judged."""
    given: Given = NOTHING
    """What the user gives besides; ``load`` reads it."""


def loadable_model(
    target: Target, shapes: object = None, threads: int = 0, given: Given = NOTHING
) -> LoadableModel:
    """Return the model that the user has named, for child processes to load.

    ``shapes``: the dynamic shapes that the project's file has for it; None: those next to the factory.
    ``threads``: how many threads paths that compile use; 0: as many as torch would use.
    """
    return LoadableModel(target.written, partial(_load, target.from_anywhere, shapes, threads, given), given)


def _load(target: Target, shapes: object, threads: int, given: Given) -> Case:
    from exportdiff.interfaces.checking.loading import load  # imports torch

    return replace(load(target, shapes, given), threads=threads or threads_of_user())


def judge_in_subprocess(
    model: LoadableModel,
    paths: Sequence[Path],
    *,
    seconds: float,
    corpora: pathlib.Path | None = None,
    searches: Callable[[Finding], bool] = lambda finding: True,
    on_step: Callable[[CheckStep], None] = lambda step: None,
    stop: Event | None = None,
) -> Report:
    """Judge all paths in one process, then judge the paths with findings again in a second process.

    ``seconds``: the limit for everything. ``corpora``: the corpus that explains findings; None: no finding is
    known. ``searches``: whether to look for a finding in the corpus. ``on_step`` receives each step as it
    happens. After ``stop`` is set, the report is returned as it is so far. Raises UsageError for a mistake of
    the user, RuntimeError if exportdiff itself failed.
    """
    deadline = time.monotonic() + seconds
    return _Judging(model, tuple(paths), deadline, corpora, on_step, stop, searches).report()


def findings_of(model: LoadableModel, paths: Sequence[Path], seconds: float) -> Sequence[Finding]:
    """Judge a model once, and return its findings, neither confirmed nor explained.

    Raises UsageError if no path can judge it, or not in ``seconds``; RuntimeError as ``judge_in_subprocess``
    does.
    """
    judging = _Judging(model, tuple(paths), time.monotonic() + seconds, None, lambda step: None, None)
    report = judging.once()
    if not report.judged:
        raise UsageError(f"{model.written} was not judged: {report.why_unjudged()}")
    return [each.finding for each in report.found]


@dataclass
class _Judging:
    model: LoadableModel
    paths: tuple[Path, ...]
    deadline: float
    corpora: pathlib.Path | None
    on_step: Callable[[CheckStep], None]
    stop: Event | None
    searches: Callable[[Finding], bool] = lambda finding: True

    def report(self) -> Report:
        notes = self._notes()
        report = replace(self.once(), notes=notes, given=self.model.given)
        for step in (self._confirmed, self._explained):
            report = step(report)
        return report

    def _notes(self) -> tuple[str, ...]:
        """Read the user's files once, in a process of its own; return what a reader must know."""
        given = self.model.given
        try:
            answer = self.ask(_read_notes, self.model) if given.reads_files else ()
        except Stopped as error:  # what follows ends for the same reason
            return (f"{error} while the files were read",)
        if isinstance(answer, Death):
            raise UsageError(f"{' '.join(given.options)}: reading it ends in {answer.reason}")
        notes: tuple[str, ...] = (*given.notes, *answer)
        self.on_step(NotesRead(notes))
        return notes

    def once(self) -> Report:
        """Judge all paths; the report says what ended that early."""
        run = _Run(self)
        stopped = ""
        try:
            run.judge(self.paths)
        except Stopped as error:
            stopped = str(error)
        return run.report(stopped)

    def _confirmed(self, report: Report) -> Report:
        confirmation = SecondJudgement(
            report, lambda found: self.on_step(FindingConfirmed(found, report.model))
        )
        if not confirmation.paths:
            return report
        self.on_step(Confirming(confirmation.waiting))
        again = _Run(replace(self, on_step=lambda step: None), confirmation.see, locates=True)
        try:
            again.judge(confirmation.paths)
        except Stopped as error:
            return replace(confirmation.stopped(str(error)), stopped=report.stopped or str(error))
        return confirmation.finished()

    def _explained(self, report: Report) -> Report:
        """Find out in a third process which findings the corpus explains."""
        if self.corpora is None or not report.found or report.stopped:
            return report
        left_out = tuple(each.finding for each in report.found if not self.searches(each.finding))
        self.on_step(Explaining(len(report.found)))
        found: list[Found] = []
        waiting = list(report.found)
        why = ""
        try:
            for parts in self.stream(_explain, self.model, report, self.corpora, left_out):
                if isinstance(parts, Death):
                    why = f"looking for known bugs ended in {parts.reason}"
                    break
                self.on_step(FindingExplained(waiting.pop(0), parts, report.model))
                found += parts
        except Stopped as error:
            why = f"{error} before it was explained"
        left = [replace(each, remark=why, searched=False) for each in waiting]
        for each in left:
            self.on_step(FindingExplained(each, (each,), report.model))
        return report.with_found((*found, *left))

    def stream(self, task: Callable[..., Iterable[object]], *args: object) -> Iterator[Any]:
        """Yield what a child process yields; its death, if it dies before the end."""
        self.seconds()
        with Child(_yield, task, args) as child:
            while not isinstance(message := self.next(child), _End):
                yield message
                if isinstance(message, Death):
                    return

    def ask(self, task: Callable[..., object], *args: object) -> Any:
        """Return the one message of a child process, or its death."""
        self.seconds()
        with Child(_answer, task, args) as child:
            return self.next(child)

    def seconds(self) -> float:
        """Return the remaining time. Raises Stopped if there is none, or if ``stop`` is set."""
        if self.stop is not None and self.stop.is_set():
            raise Stopped
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise Stopped(TIME_LIMIT)
        return seconds

    def next(self, child: Child, share: float = 1.0) -> Any:
        """Return the next message of a child, or its death.

        Waits for a ``share`` of the remaining time. Raises Stopped, also if the wait was too short to call it
        a hang; UsageError; RuntimeError if exportdiff itself failed in the child.
        """
        seconds = self.seconds() * share
        message = child.receive(seconds, self.stop, self.deadline)
        if isinstance(message, Death) and message.kind == "hang" and (seconds < HANG or share == 1):
            raise Stopped(TIME_LIMIT)
        if isinstance(message, Death) and message.of_shell:
            raise Stopped(message.reason)
        if isinstance(message, _Mistake):
            raise UsageError(message.text)
        if isinstance(message, TaskFailure):
            raise message.error
        return message


@dataclass(frozen=True)
class _Mistake:
    """A mistake of the user, on its way from a child."""

    text: str


class _Run:
    """One pass over the paths, with its results so far."""

    def __init__(
        self,
        judging: _Judging,
        on_finding: Callable[[Finding], None] = lambda finding: None,
        *,
        locates: bool = False,
    ) -> None:
        """``locates``: each finding gets the place at which its path first differs from eager."""
        self._judging = judging
        self._on_finding = on_finding
        self._locates = locates
        self._results: dict[Path, PathResult] = {}
        self._judged: dict[Path, PathFindings] = {}
        """The paths whose findings have arrived as well."""
        self._asked: tuple[Path, ...] = ()
        self._unjudged: list[Unjudged] = []
        self._deadly: list[Finding] = []
        self._invalid = ""
        self._model: ModelIdentity | None = None

    def judge(self, paths: tuple[Path, ...]) -> None:
        """Judge paths in one process; if one of them kills it, judge each remaining path in its own process.

        Raises UsageError if eager alone kills the process.
        """
        self._asked = paths
        if self._together(paths, 0.5) is None:
            return
        from exportdiff.fuzzing.campaign.postmortem import post_mortem  # imports torch

        found = post_mortem(self._alone, [path for path in paths if path not in self._judged])
        if found.eager is not None:
            written = self._judging.model.written
            raise UsageError(f"{written} kills its process in eager already ({found.eager.reason})")

    def _alone(self, paths: tuple[Path, ...]) -> Death | None:
        """Judge one path, or run eager if there is none; return the death of the process."""
        if not paths:
            eager = self._judging.ask(_run_eager, self._judging.model, self._asked[0].device)
            return eager if isinstance(eager, Death) else None
        from exportdiff.fuzzing.campaign.postmortem import death_finding  # imports torch

        left = sum(path not in self._judged for path in self._asked) - len(self._deadly)
        death = self._together(paths, 1 / (left + 1))
        if death is not None and paths[0] not in self._judged:
            finding = death_finding(paths[0], death)
            self._deadly.append(finding)
            headline = finding.evidence.headline
            self._add(PathResult(paths[0], "finding", death.reason, (), headline, outcome="differs"))
            return death
        return None

    def _together(self, paths: tuple[Path, ...], share: float) -> Death | None:
        """Judge paths in one process; return its death if it ends before the last path is judged.

        A path that takes more than a ``share`` of the remaining time hangs.
        """
        seconds = self._judging.seconds() * share if self._locates else None
        with Child(_judge, self._judging.model, paths, seconds) as child:
            while True:
                message = self._judging.next(child, share)
                if isinstance(message, Death):
                    return message
                if isinstance(message, _End):
                    self._invalid = message.invalid
                    self._unjudged += message.unjudged
                    return None
                if isinstance(message, ModelIdentity):
                    self._model = message
                # The result arrives first: this process must import torch to unpickle the findings.
                elif isinstance(message, PathResult):
                    self._add(message)
                else:
                    path, judged = message
                    self._judged[path] = judged
                    for finding in judged.findings:
                        self._on_finding(finding)

    def _add(self, result: PathResult) -> None:
        self._results[result.path] = result
        self._judging.on_step(PathDone(result))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings so far, with one finding for each signature."""
        return folded((*over_paths(list(self._judged.items())), *self._deadly))

    def report(self, stopped: str) -> Report:
        """Return the report so far, with nothing confirmed or explained."""
        report = assembled(
            self._judging.model.written,
            self._asked,
            tuple(self._results.values()),
            self.findings(),
            tuple(self._unjudged),
            invalid=self._invalid,
            stopped=stopped,
        )
        return replace(report, model=self._model)


@dataclass(frozen=True)
class _End:
    """The last message of a child that sends several."""

    invalid: str = ""
    unjudged: tuple[Unjudged, ...] = ()


def _judge(pipe: Any, model: LoadableModel, paths: Sequence[Path], seconds: float | None) -> None:
    """Send the results and findings of each path; ``seconds``: search for places, within this time."""
    from exportdiff.judging.verdict import judge

    def work() -> object:
        def tell(result: PathResult, judged: PathFindings) -> None:
            pipe.send(result)
            if locator is not None:
                judged = replace(judged, findings=locator.located(judged.findings))
            pipe.send((result.path, judged))

        case = model.load()
        locator = _locator(case, seconds)
        if case.identity is not None:
            pipe.send(case.identity)
        verdict = judge(case, paths, on_path=tell)
        return _End(verdict.invalid_reason, verdict.unjudged)

    pipe.send(_caught(work))


def _locator(case: Case, seconds: float | None) -> Locator | None:
    if seconds is None:
        return None
    from exportdiff.interfaces.checking.locating import Locator

    return Locator(case, seconds)


def _answer(pipe: Any, task: Callable[..., object], args: tuple[object, ...]) -> None:
    pipe.send(_caught(lambda: task(*args)))


def _yield(pipe: Any, task: Callable[..., Iterable[object]], args: tuple[object, ...]) -> None:
    def work() -> object:
        for message in task(*args):
            pipe.send(message)
        return _End()

    pipe.send(_caught(work))


def _caught(work: Callable[[], object]) -> object:
    try:
        return work()
    except UsageError as error:
        return _Mistake(str(error))
    except Exception as error:
        return TaskFailure(RuntimeError("".join(traceback.format_exception(error))))


def _read_notes(model: LoadableModel) -> tuple[str, ...]:
    return model.load().notes


def _run_eager(model: LoadableModel, device: str) -> None:
    from exportdiff.judging.judge_case import run_eager

    run_eager(model.load(), device)


def _explain(
    model: LoadableModel, report: Report, corpora: pathlib.Path, left_out: Collection[Finding]
) -> Iterator[tuple[Found, ...]]:
    from exportdiff.interfaces.checking.explaining import explained

    return explained(model.load(), report, corpora, left_out)

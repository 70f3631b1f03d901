"""Judges a model in child processes, so that a path that kills its process, or never ends, is a finding."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.check_steps import Confirming, Explaining, PathDone, Step
from exportdiff.interfaces.checking.report import Report, assembled, confirmed
from exportdiff.judging.causes import folded, over_paths
from exportdiff.judging.results import PathResult, Unjudged
from exportdiff.runtime.processes.child import Child, Death, Stopped, TaskFailure

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Sequence
    from threading import Event

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.core.target import Target
    from exportdiff.interfaces.checking.report import Found
    from exportdiff.judging.causes import PathFindings

TIME_LIMIT = "the time limit was reached"

HANG = 60.0
"""A path that gives no answer for so many seconds hangs, if eager alone does not."""


@dataclass(frozen=True)
class Subject:
    """A model that a child process can load."""

    written: str
    """What the user calls it."""
    load: Callable[[], Case]
    """Called in children, so it has to be picklable. Raises UsageError if the model cannot be judged."""


def loadable_model(target: Target) -> Subject:
    """Return what judges the model that the user has named."""
    return Subject(target.written, partial(_load, target.from_anywhere))


def _load(target: Target) -> Case:
    from exportdiff.interfaces.checking.loading import load  # imports torch

    return load(target)


def judge_in_subprocess(
    subject: Subject,
    paths: Sequence[Path],
    *,
    seconds: float,
    corpora: pathlib.Path | None = None,
    tell: Callable[[Step], None] = lambda step: None,
    stop: Event | None = None,
) -> Report:
    """Judge a model: along all paths in one process, then what differs again in a second one.

    ``seconds``: the limit for everything. ``corpora``: the corpus that says what is known; None: nothing is.
    ``tell`` gets each step as it happens. After ``stop`` is set, the report says what is known so far.
    Raises UsageError if the user made a mistake, RuntimeError if exportdiff itself failed.
    """
    return _Judging(subject, tuple(paths), time.monotonic() + seconds, corpora, tell, stop).report()


def findings_of(subject: Subject, paths: Sequence[Path], seconds: float) -> Sequence[Finding]:
    """Judge a model once, and return what differs, with nothing confirmed or explained.

    Raises UsageError if it cannot be judged, or not in ``seconds``; RuntimeError as ``judge_in_subprocess``.
    """
    judging = _Judging(subject, tuple(paths), time.monotonic() + seconds, None, lambda step: None, None)
    report = judging.once()
    if report.invalid or report.stopped:
        raise UsageError(f"{subject.written}: {report.invalid or report.stopped}")
    return [each.finding for each in report.found]


@dataclass
class _Judging:
    subject: Subject
    paths: tuple[Path, ...]
    deadline: float
    corpora: pathlib.Path | None
    tell: Callable[[Step], None]
    stop: Event | None

    def report(self) -> Report:
        report = self.once()
        for step, what in ((self._confirmed, "it was confirmed"), (self._explained, "the corpus was asked")):
            try:
                report = step(report)
            except Stopped as error:
                found = tuple(replace(each, remark=f"{error} before {what}") for each in report.found)
                return replace(report, found=found, stopped=report.stopped or str(error))
        return report

    def once(self) -> Report:
        """Judge along all paths; say in the report what ended that early."""
        run = _Run(self)
        stopped = ""
        try:
            run.judge(self.paths)
        except Stopped as error:
            stopped = str(error)
        return run.report(stopped)

    def _confirmed(self, report: Report) -> Report:
        return confirmed(report, self._again)

    def _again(self, paths: tuple[Path, ...], findings: int) -> Sequence[Finding]:
        self.tell(Confirming(findings))
        again = _Run(replace(self, tell=lambda step: None))
        again.judge(paths)
        return again.findings()

    def _explained(self, report: Report) -> Report:
        """Find out in a third process which findings the corpus explains."""
        if self.corpora is None or not report.found:
            return report
        self.tell(Explaining(len(report.found)))
        found = self.ask(_explain, self.subject, report, self.corpora)
        if isinstance(found, Death):
            remark = f"asking the corpus ended in {found.reason}"
            found = tuple(replace(each, remark=remark) for each in report.found)
        return report.with_found(found)

    def ask(self, task: Callable[..., object], *args: object) -> Any:
        """Return the one message of a child process, or its death."""
        self.seconds()
        with Child(_answer, task, args) as child:
            return self.next(child)

    def seconds(self) -> float:
        """Return how much time is left. Raises Stopped if there is none, or if somebody asked to stop."""
        if self.stop is not None and self.stop.is_set():
            raise Stopped
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise Stopped(TIME_LIMIT)
        return seconds

    def next(self, child: Child, share: float = 1.0) -> Any:
        """Return the next message of a child, or its death.

        Waits for a ``share`` of the time that is left. Raises Stopped, also if that is too little to say that
        the child hangs; UsageError; RuntimeError if exportdiff itself failed there.
        """
        seconds = self.seconds() * share
        message = child.receive(seconds, self.stop)
        if isinstance(message, Death) and message.kind == "hang" and (seconds < HANG or share == 1):
            raise Stopped(TIME_LIMIT)
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
    """One pass over the paths, and what it has shown so far."""

    def __init__(self, judging: _Judging) -> None:
        self._judging = judging
        self._results: dict[Path, PathResult] = {}
        self._judged: dict[Path, PathFindings] = {}
        """The paths whose findings have arrived as well."""
        self._asked: tuple[Path, ...] = ()
        self._unjudged: list[Unjudged] = []
        self._deadly: list[Finding] = []
        self._invalid = ""

    def judge(self, paths: tuple[Path, ...]) -> None:
        """Judge along paths in one process; if one kills it, each path that is left in its own.

        Raises UsageError if eager alone kills the process.
        """
        self._asked = paths
        if self._together(paths, 0.5) is None:
            return
        from exportdiff.fuzzing.campaign.postmortem import post_mortem  # imports torch

        found = post_mortem(self._alone, [path for path in paths if path not in self._judged])
        if found.eager is not None:
            written = self._judging.subject.written
            raise UsageError(f"{written} takes the process down by itself ({found.eager.reason})")

    def _alone(self, paths: tuple[Path, ...]) -> Death | None:
        """Judge along one path, or run eager alone; return the death of the process."""
        if not paths:
            eager = self._judging.ask(_run_eager, self._judging.subject, self._asked[0].device)
            return eager if isinstance(eager, Death) else None
        from exportdiff.fuzzing.campaign.postmortem import death_finding  # imports torch

        left = sum(path not in self._judged for path in self._asked) - len(self._deadly)
        death = self._together(paths, 1 / (left + 1))
        if death is not None and paths[0] not in self._judged:
            finding = death_finding(paths[0], death)
            self._deadly.append(finding)
            headline = finding.evidence.headline
            self._add(PathResult(paths[0], "finding", death.reason, message=headline))
            return death
        return None

    def _together(self, paths: tuple[Path, ...], share: float) -> Death | None:
        """Judge in one process; return its death if it ends before the last path is judged.

        A path that takes more than a ``share`` of the time that is left hangs.
        """
        self._judging.seconds()
        with Child(_judge, self._judging.subject, paths) as child:
            while True:
                message = self._judging.next(child, share)
                if isinstance(message, Death):
                    return message
                if isinstance(message, _End):
                    self._invalid = message.invalid
                    self._unjudged += message.unjudged
                    return None
                # The result first: to read the findings, this process has to import torch.
                if isinstance(message, PathResult):
                    self._add(message)
                else:
                    path, judged = message
                    self._judged[path] = judged

    def _add(self, result: PathResult) -> None:
        self._results[result.path] = result
        self._judging.tell(PathDone(result))

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings so far; one signature on several paths is one finding."""
        return folded((*over_paths(list(self._judged.items())), *self._deadly))

    def report(self, stopped: str) -> Report:
        """Return the report so far, with nothing confirmed or explained."""
        return assembled(
            self._judging.subject.written,
            self._asked,
            tuple(self._results.values()),
            self.findings(),
            tuple(self._unjudged),
            invalid=self._invalid,
            stopped=stopped,
        )


@dataclass(frozen=True)
class _End:
    """The last message of a child that judges."""

    invalid: str = ""
    unjudged: tuple[Unjudged, ...] = ()


def _judge(pipe: Any, subject: Subject, paths: Sequence[Path]) -> None:
    from exportdiff.judging.verdict import judge

    def work() -> object:
        def tell(result: PathResult, judged: PathFindings) -> None:
            pipe.send(result)
            pipe.send((result.path, judged))

        verdict = judge(subject.load(), paths, tell=tell)
        return _End(verdict.invalid_reason, verdict.unjudged)

    pipe.send(_caught(work))


def _answer(pipe: Any, task: Callable[..., object], args: tuple[object, ...]) -> None:
    pipe.send(_caught(lambda: task(*args)))


def _caught(work: Callable[[], object]) -> object:
    try:
        return work()
    except UsageError as error:
        return _Mistake(str(error))
    except Exception as error:
        return TaskFailure(RuntimeError("".join(traceback.format_exception(error))))


def _run_eager(subject: Subject, device: str) -> None:
    from exportdiff.judging.judge_case import run_eager

    run_eager(subject.load(), device)


def _explain(subject: Subject, report: Report, corpora: pathlib.Path) -> tuple[Found, ...]:
    from exportdiff.interfaces.checking.explaining import explained

    return explained(subject.load(), report, corpora)

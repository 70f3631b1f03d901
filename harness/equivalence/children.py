"""Judges a model in child processes, so that a path that kills its process, or never ends, is a finding."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from harness.equivalence.report import Found, Report
from harness.equivalence.steps import Confirming, Explaining, PathDone, Step
from harness.errors import UsageError
from harness.findings import Finding
from harness.judge.causes import folded, over_paths
from harness.judge.results import PathResult, Unjudged
from harness.processes.child import Child, Death, Failure, Stopped

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Sequence
    from threading import Event

    from harness.equivalence.target import Target
    from harness.judge.causes import Judged
    from harness.known.explained import Explained
    from harness.path import Path

T = TypeVar("T")

TIME_LIMIT = "the time limit was reached"
INTERRUPTED = "interrupted"

HANG = 60.0
"""A path that gives no answer for so many seconds hangs, if eager alone does not."""


def judge_target(
    target: Target,
    paths: Sequence[Path],
    *,
    seconds: float,
    corpora: pathlib.Path | None = None,
    tell: Callable[[Step], None] = lambda step: None,
    stop: Event | None = None,
) -> Report:
    """Judge the user's model: along all paths in one process, then what differs again in a second one.

    ``seconds``: the limit for everything. ``corpora``: the corpus that says what is known; None: nothing is.
    ``tell`` gets each step as it happens. After ``stop`` is set, the report says what is known so far.
    Raises UsageError if the user made a mistake, RuntimeError if exportdiff itself failed.
    """
    return _Judging(target, tuple(paths), time.monotonic() + seconds, corpora, tell, stop).report()


@dataclass
class _Judging:
    target: Target
    paths: tuple[Path, ...]
    deadline: float
    corpora: pathlib.Path | None
    tell: Callable[[Step], None]
    stop: Event | None

    def report(self) -> Report:
        run = _Run(self)
        try:
            run.judge(self.paths)
        except (_OutOfTime, Stopped) as error:
            run.stopped = TIME_LIMIT if isinstance(error, _OutOfTime) else INTERRUPTED
        report = run.report()
        if not report.found or run.stopped == INTERRUPTED:
            return report
        try:
            report = self._confirmed(report)
            return self._explained(report)
        except (_OutOfTime, Stopped) as error:
            why = TIME_LIMIT if isinstance(error, _OutOfTime) else INTERRUPTED
            remark = f"{why} before it was confirmed, or the corpus was asked"
            found = tuple(replace(each, remark=remark) for each in report.found)
            return replace(report, found=found, stopped=report.stopped or why)

    def _confirmed(self, report: Report) -> Report:
        """Keep what a second process shows as well."""
        from harness.checks.alive import ALIVE  # to read findings takes torch, and there are some

        mismatches = [each for each in report.found if each.finding.check != ALIVE]
        paths = tuple(dict.fromkeys(path for each in mismatches for path in each.finding.shown_on))
        if not paths:
            return report
        self.tell(Confirming(len(mismatches)))
        again = _Run(replace(self, tell=lambda step: None))
        again.judge(paths)
        seen = {finding.fingerprint for finding in again.findings()}
        kept = tuple(
            each for each in report.found if each.finding.check == ALIVE or each.finding.fingerprint in seen
        )
        return replace(report, found=kept, unconfirmed=len(report.found) - len(kept))

    def _explained(self, report: Report) -> Report:
        """Find out in a third process which findings the corpus explains."""
        if self.corpora is None or not report.found:
            return report
        self.tell(Explaining(len(report.found)))
        findings = tuple(each.finding for each in report.found)
        answer = self.ask(_explain, self.target, findings, report.paths, self.corpora)
        if isinstance(answer, Death):
            remark = f"asking the corpus ended in {answer.reason}"
            return replace(report, found=tuple(replace(each, remark=remark) for each in report.found))
        parts: Sequence[Explained] = answer
        return replace(report, found=tuple(Found(part.finding, part.causes, part.remark) for part in parts))

    def ask(self, task: Callable[..., object], *args: object) -> Any:
        """Return the one message of a child process, or its death."""
        with Child(_answer, task, args) as child:
            return self.next(child)

    def next(self, child: Child, share: float = 1.0) -> Any:
        """Return the next message of a child, or its death.

        Waits for a ``share`` of the time that is left. Raises _OutOfTime if that is too little to say that
        the child hangs; Stopped; UsageError; RuntimeError if exportdiff itself failed there.
        """
        seconds = (self.deadline - time.monotonic()) * share
        if seconds <= 0:
            raise _OutOfTime
        message = child.receive(seconds, self.stop)
        if isinstance(message, Death) and message.kind == "hang" and (seconds < HANG or share == 1):
            raise _OutOfTime
        if isinstance(message, _Mistake):
            raise UsageError(message.text)
        if isinstance(message, Failure):
            raise message.error
        return message


class _OutOfTime(Exception):  # noqa: N818  # it is no error: a report is made of what is there
    """The time limit was reached."""


@dataclass(frozen=True)
class _Mistake:
    """A mistake of the user, on its way from a child."""

    text: str


class _Run:
    """One pass over the paths, and what it has shown so far."""

    def __init__(self, judging: _Judging) -> None:
        self._judging = judging
        self._results: dict[Path, PathResult] = {}
        self._judged: dict[Path, Judged] = {}
        self._asked: tuple[Path, ...] = ()
        self._unjudged: list[Unjudged] = []
        self._deadly: list[Finding] = []
        self._invalid = ""
        self.stopped = ""

    def judge(self, paths: tuple[Path, ...]) -> None:
        """Judge along paths in one process; if one kills it, each path that is left in its own.

        Raises UsageError if eager alone kills the process.
        """
        self._asked = paths
        if self._together(paths, 0.5) is None:
            return
        target = self._judging.target
        eager = self._judging.ask(_run_eager, target, paths[0].device)
        if isinstance(eager, Death):
            raise UsageError(f"{target.written} takes the process down by itself ({eager.reason})")
        left = [path for path in paths if path not in self._results]
        for done, path in enumerate(left):
            death = self._together((path,), 1 / (len(left) - done + 1))
            if death is not None and path not in self._results:
                from harness.checks.alive import ALIVE, ProcessDied  # imports torch

                evidence = ProcessDied(death.kind, death.reason)
                self._deadly.append(Finding(path, ALIVE, evidence))
                self._add(PathResult(path, "finding", death.reason, message=evidence.headline))

    def _together(self, paths: tuple[Path, ...], share: float) -> Death | None:
        """Judge in one process; return its death if it ends before the last path is judged.

        A path that takes more than a ``share`` of the time that is left hangs.
        """
        with Child(_judge, self._judging.target, paths) as child:
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

    def report(self) -> Report:
        """Return the report so far, with nothing confirmed or explained."""
        known = {*self._results, *(each.path for each in self._unjudged)}
        why = self._invalid or self.stopped
        left = tuple(Unjudged(path, why) for path in self._asked if path not in known)
        return Report(
            self._judging.target.written,
            version("torch"),
            tuple(self._results.values()),
            (*self._unjudged, *left),
            tuple(map(Found, self.findings())),
            self._invalid,
            stopped=self.stopped,
        )


@dataclass(frozen=True)
class _End:
    """The last message of a child that judges."""

    invalid: str = ""
    unjudged: tuple[Unjudged, ...] = ()


def _judge(pipe: Any, target: Target, paths: Sequence[Path]) -> None:
    from harness.equivalence import inside

    def work() -> object:
        def tell(result: PathResult, judged: Judged) -> None:
            pipe.send(result)
            if judged.findings or judged.possible_causes:
                pipe.send((result.path, judged))

        verdict = inside.judge(target, paths, tell)
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
        return Failure(RuntimeError("".join(traceback.format_exception(error))))


def _run_eager(target: Target, device: str) -> None:
    from harness.equivalence import inside

    inside.run_eager(target, device)


def _explain(
    target: Target, findings: tuple[Finding, ...], paths: tuple[PathResult, ...], corpora: pathlib.Path
) -> object:
    from harness.equivalence import inside

    return inside.explain_findings(target, findings, paths, corpora)

"""The question that decides on a candidate: does it still show this finding? Asked of one worker process."""

from __future__ import annotations

import gc
import linecache
import sys
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from harness.checks.alive import ProcessDied
from harness.processes.pool import Death, Failure, ReusableWorker

if TYPE_CHECKING:
    from harness.case import Case
    from harness.findings import Finding
    from harness.judge.verdict import Verdict
    from harness.patching.fixes import Fix

T = TypeVar("T")

FIRST_SECONDS = 120.0
"""Limit of the first judgement; the limits of the others come of how long it took."""
AT_LEAST, TIMES = 2.0, 20.0
"""A candidate may take so long, and so many times as long as what it was made from."""
ABORT_SECONDS, HANG_SECONDS = 30.0, 10.0
"""Limits where a finding is that a path takes the process down, or never ends."""
WARM_UP = 5.0
"""What a process may take for the first candidate besides."""
CANDIDATES_EACH = 500
"""A worker is replaced after so many."""
COLLECT_EVERY = 40


@dataclass(frozen=True)
class Question:
    """What to look for, in plain data: it crosses a process boundary."""

    path: str
    check: str
    kind: str
    signature: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Where else to import from: the folder of a user's file."""
    fixes: tuple[Fix, ...] = ()
    """Held in place meanwhile: a finding that one of them mends is another."""
    thorough: bool = False
    """Whether to make every deviating call; else a few, which depend on the text."""

    @classmethod
    def about(cls, finding: Finding, folders: Collection[str] = (), fixes: Collection[Fix] = ()) -> Question:
        """Ask for the same finding."""
        return cls(
            path=str(finding.path),
            check=finding.check,
            kind=finding.kind,
            signature=finding.signature,
            folders=tuple(folders),
            fixes=tuple(fixes),
            thorough=finding.evidence.in_deviating_call,
        )

    def answered_by(self, finding: Finding) -> bool:
        """Whether a finding is the one that is looked for."""
        return (str(finding.path), finding.check, finding.kind, finding.signature) == (
            self.path,
            self.check,
            self.kind,
            self.signature,
        )

    @property
    def of_death(self) -> bool:
        """Whether it is about a path that takes the process down, or never ends."""
        return self.check == "alive"


class Judge:
    """Asks a worker process; a candidate that takes it down costs only itself."""

    def __init__(self, question: Question) -> None:
        """Start nothing yet; ``begin`` does."""
        self._question = question
        self._worker = ReusableWorker()
        self._limit = FIRST_SECONDS
        self._asked = 0
        self._dead: Finding | None = None

    def begin(self, source: str, finding: Finding) -> Finding | None:
        """Judge what is to be reduced; from then on candidates have to be about as quick."""
        if self._question.of_death:
            self._dead = finding
            # Who does not die must have the time to answer; who hangs, not more than that.
            self._limit = ABORT_SECONDS if finding.kind == "abort" else HANG_SECONDS
            return self(source)
        if self(source) is None and not self._question.thorough:
            self._question = replace(self._question, thorough=True)
        # A second time, with all warmed up.
        started = time.monotonic()
        answer = self(source)
        self._limit = max(AT_LEAST, TIMES * (time.monotonic() - started))
        return answer

    def __call__(self, source: str) -> Finding | None:
        """Return the finding as this source shows it; None if it does not."""
        self._asked += 1
        if self._asked % CANDIDATES_EACH == 0:
            self._worker.stop()
        if self._dead is not None:
            return self._dead if self._dies(source, self._dead) else None
        answer = self._ask(find, source)
        return None if isinstance(answer, Death | Failure) else answer

    def _dies(self, source: str, finding: Finding) -> bool:
        if self._ask(runs_in_eager, source) is not True:
            return False
        answer = self._ask(find, source)
        if not isinstance(answer, Death) or answer.kind != finding.kind:
            return False
        evidence = finding.evidence
        return isinstance(evidence, ProcessDied) and (
            answer.kind == "hang" or answer.reason == evidence.reason
        )

    def _ask(self, task: Callable[[Question, str], T], source: str) -> T | Death | Failure:
        seconds = self._limit + (WARM_UP if self._worker.is_new else 0.0)
        return self._worker.ask(seconds, task, self._question, source)

    def stop(self) -> None:
        """End the worker process."""
        self._worker.stop()


def find(question: Question, source: str) -> Finding | None:
    """Judge a source along the path of the question, in this process."""
    with _held(question.fixes):
        verdict = _judged(question, source, (question.path,))
    if verdict is None or not verdict.valid:
        return None
    return next(filter(question.answered_by, verdict.findings), None)


def find_all(folders: Collection[str], source: str, paths: Collection[str]) -> Verdict | str:
    """Judge a source along several paths, with all deviating calls; return the text of its own mistake."""
    question = Question("", "", "", (), tuple(folders), thorough=True)
    try:
        case = _case(question, source)
        case.build()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    verdict = _judged(question, source, paths)
    return "it cannot be judged" if verdict is None else verdict


def runs_in_eager(question: Question, source: str) -> bool:
    """Whether eager survives a source, in this process."""
    return _judged(question, source, ()) is not None


_judgements = 0


def _judged(question: Question, source: str, paths: Collection[str]) -> Verdict | None:
    """Judge as in a fresh process: what was judged before must not matter."""
    global _judgements
    from harness.judge.judge_case import judge_case
    from harness.observe.isolation import forget_predictions
    from harness.paths import Path

    _judgements += 1
    if _judgements % COLLECT_EVERY == 0:
        gc.collect()
        gc.freeze()
    forget_predictions()
    before = set(sys.modules)
    try:
        return judge_case(_case(question, source), [Path.parse(path) for path in paths])
    except Exception:
        return None
    finally:
        for name in set(sys.modules) - before:
            if name.startswith("exportdiff_"):
                linecache.cache.pop(str(sys.modules.pop(name).__file__), None)


def _case(question: Question, source: str) -> Case:
    from harness.case import case_from_source

    for folder in question.folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    case = case_from_source(source)
    if "torch" not in vars(sys.modules[case.make.__module__]):
        raise KeyError("torch")  # what a repro file adds below needs it
    return replace(case, thorough=question.thorough)


def _held(fixes: Collection[Fix]) -> AbstractContextManager[None]:
    from harness.patching.fixes import applied

    return applied(fixes) if fixes else nullcontext()

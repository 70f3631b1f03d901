"""Decides in a worker process whether a candidate still shows the finding."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from exportdiff.core.case import InvalidFactory, case_from_source
from exportdiff.core.errors import UsageError
from exportdiff.judging.checks.alive import ProcessDied
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.places.find import first_difference
from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.paths import parse
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker

if TYPE_CHECKING:
    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.judging.results import Verdict
    from exportdiff.runtime.patching.fixes import Fix

T = TypeVar("T")

FIRST_SECONDS = 120.0
"""Time limit of the first judgement. Its duration determines the limit of the others."""
AT_LEAST, TIMES = 2.0, 20.0
"""The limit of a candidate: 2 seconds, or 20 times the time of the original program if that is more."""
ABORT_SECONDS, HANG_SECONDS = 30.0, 10.0
"""Limits for a finding that a path kills its process or does not end."""
WARM_UP = 5.0
"""Additional time for the first candidate of a process."""
CANDIDATES_EACH = 500
"""A fresh worker replaces one that has judged this many candidates."""
COLLECT_EVERY = 40
"""Candidates between two collections of garbage."""


@dataclass(frozen=True)
class WantedFinding:
    """The finding to look for. Plain data: it crosses a process boundary."""

    path: str
    check: str
    kind: str
    signature: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Further folders to import from: the folder of a user's file."""
    fixes: tuple[Fix, ...] = ()
    """Installed while judging, so that another bug is not taken for the finding."""
    thorough: bool = False
    """Whether to try every deviation. False: a few, which the source determines."""
    finite_only: bool = True
    """Whether to ignore programs with infinities or NaN; drawn programs have none."""

    @classmethod
    def about(
        cls, finding: Finding, folders: Collection[str] = (), fixes: Collection[Fix] = ()
    ) -> WantedFinding:
        """Return what to look for to see this finding."""
        return cls(
            path=str(finding.path),
            check=finding.check,
            kind=finding.kind,
            signature=finding.signature,
            folders=tuple(folders),
            fixes=tuple(fixes),
            thorough=finding.evidence.in_deviating_call,
        )

    def matches(self, finding: Finding) -> bool:
        """Whether this is the finding to look for."""
        return (str(finding.path), finding.check, finding.kind, finding.signature) == (
            self.path,
            self.check,
            self.kind,
            self.signature,
        )

    @property
    def of_death(self) -> bool:
        """Whether the finding is that a path kills its process or does not end."""
        return self.check == "alive"


class CandidateJudge:
    """Judges candidates in a worker process, which a candidate may kill."""

    def __init__(self, wanted: WantedFinding) -> None:
        """Does not start the worker process; ``begin`` does."""
        self._wanted = wanted
        self._worker = ReusableWorker()
        self._limit = FIRST_SECONDS
        self._asked = 0
        self._dead: Finding | None = None

    def begin(self, source: str, finding: Finding) -> Finding | None:
        """Judge the original program. Its duration determines the time limit of the candidates."""
        if self._wanted.of_death:
            self._dead = finding
            # A program that survives needs time to finish; one that hangs takes the whole limit.
            self._limit = ABORT_SECONDS if finding.kind == "abort" else HANG_SECONDS
            return self(source)
        if self(source) is None and not self._wanted.thorough:
            self._wanted = replace(self._wanted, thorough=True)
            if self(source) is None:  # a user's program may contain infinities, as in a mask
                self._wanted = replace(self._wanted, finite_only=False)
        # Once more, to measure the time without imports and caches.
        started = time.monotonic()
        answer = self(source)
        self._limit = max(AT_LEAST, TIMES * (time.monotonic() - started))
        return answer

    def __call__(self, source: str) -> Finding | None:
        """Return the finding as this source shows it; None if the source does not show it."""
        self._asked += 1
        if self._asked % CANDIDATES_EACH == 0:
            self._worker.stop()
        if self._dead is not None:
            return self._dead if self._dies(source, self._dead) else None
        answer = self._ask(find, source)
        return None if isinstance(answer, Death | TaskFailure) else answer

    def _dies(self, source: str, finding: Finding) -> bool:
        if self._ask(runs_in_eager, source) is not True:
            return False
        answer = self._ask(find, source)
        if not isinstance(answer, Death) or answer.kind != finding.kind:
            return False
        evidence = finding.evidence
        same = isinstance(evidence, ProcessDied) and answer.reason == evidence.reason
        return same or answer.kind == "hang"

    def _ask(self, task: Callable[[WantedFinding, str], T], source: str) -> T | Death | TaskFailure:
        seconds = self._limit + (WARM_UP if self._worker.is_new else 0.0)
        return self._worker.ask(seconds, task, self._wanted, source)

    def first_difference(self, source: str, finding: Finding) -> FirstDifference | None:
        """Return where the path of a finding that this source shows first differs from eager, if known."""
        if self._dead is not None:
            return None
        answer = self._worker.ask(self._limit, locate, self._wanted, source, finding)
        return None if isinstance(answer, Death | TaskFailure) else answer

    def stop(self) -> None:
        """End the worker process."""
        self._worker.stop()


def find(wanted: WantedFinding, source: str) -> Finding | None:
    """Judge a source on the path of the wanted finding, in this process."""
    with _installed(wanted.fixes):
        verdict = _judged(wanted, source, (wanted.path,))
    if verdict is None or not verdict.valid:
        return None
    return next(filter(wanted.matches, verdict.findings), None)


def locate(wanted: WantedFinding, source: str, finding: Finding) -> FirstDifference:
    """Search for the place in this process. A program without a file has no line numbers to name."""
    with _installed(wanted.fixes), clean_state():
        place = first_difference(_case(wanted, source), finding)
    place = replace(place, recorded=None)
    return replace(place, file="", line=None) if place.file.startswith("<") else place


def load_source(written: str, source: str, folder: str) -> Case:
    """Return the case of a source that may import from a folder, with all deviations.

    ``written``: its name, for messages. Raises UsageError if it cannot be built.
    """
    wanted = WantedFinding("", "", "", (), (folder,), thorough=True, finite_only=False)
    try:
        case = _case(wanted, source)
        replace(case, name=written).build()
    except InvalidFactory as error:
        raise UsageError(str(error)) from None
    except Exception as error:
        raise UsageError(f"{written}: {type(error).__name__}: {error}") from None
    return case


def runs_in_eager(wanted: WantedFinding, source: str) -> bool:
    """Whether eager survives a source, in this process."""
    return _judged(wanted, source, ()) is not None


_judgements = 0


def _judged(wanted: WantedFinding, source: str, paths: Collection[str]) -> Verdict | None:
    """Judge as in a fresh process: earlier judgements must not influence this one."""
    global _judgements
    _judgements += 1
    try:
        with clean_state(free=_judgements % COLLECT_EVERY == 0):
            return judge_case(_case(wanted, source), [parse(path) for path in paths])
    except Exception:
        return None


def _case(wanted: WantedFinding, source: str) -> Case:
    for folder in wanted.folders:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    case = case_from_source(source, finite_only=wanted.finite_only)
    if "torch" not in vars(sys.modules[case.make.__module__]):
        raise KeyError("torch")  # the code that a repro file adds uses it
    return replace(case, thorough=wanted.thorough)


def _installed(fixes: Collection[Fix]) -> AbstractContextManager[None]:
    return applied(fixes) if fixes else nullcontext()

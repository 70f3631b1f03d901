"""Judges one case with chosen fixes installed, within a budget, and remembers what each path showed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.cache_files import cache_folder
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.runtime.patching.executed import ExecutedLines
from exportdiff.runtime.patching.fixes import FixError, fixes_that_raised, remember
from exportdiff.runtime.patching.installed import only_these_fixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.judge_case import Judge
    from exportdiff.judging.results import Verdict
    from exportdiff.known.attribution.knowledge import Knowledge
    from exportdiff.runtime.patching.executed import Line

Signature: TypeAlias = "tuple[str, ...]"


class OutOfBudget(Exception):  # noqa: N818  # a reason to end, not an error
    """The budget of a search is used up; the text says which part."""


@dataclass
class Budget:
    """How often a search may judge, and for how long."""

    judgements: int
    seconds: float
    """CPU time, so that the answer does not depend on how busy the machine is."""
    spent: int = 0
    """Judgements so far."""
    _started: float = field(default_factory=time.process_time)

    def spend(self) -> None:
        """Count one judgement. Raises OutOfBudget if no judgement or no time is left."""
        if self.spent >= self.judgements:
            raise OutOfBudget("ran out of judgements")
        if time.process_time() - self._started > self.seconds:
            raise OutOfBudget("ran out of time")
        self.spent += 1


@dataclass(frozen=True)
class TrialAnswer:
    """What one path shows."""

    status: str
    """``ok``, ``unsupported`` or ``finding``; ``invalid`` if the case cannot be judged; empty: the path does
    not apply."""
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    """If it was refused: the name of the fix that declares this, or of the documented refusal or limit. It
    may have findings too, if it leaves something changed."""
    consequences: frozenset[Signature] = frozenset()
    """The signatures of differences that follow from the findings of its mode."""

    @property
    def signatures(self) -> frozenset[Signature]:
        """The signatures of its findings."""
        return frozenset(finding.signature for finding in self.findings)


@dataclass
class Trial:
    """One case, and what its paths show under each set of fixes."""

    case: Case
    known: Knowledge
    judge: Judge = judge_case
    _seen: dict[tuple[frozenset[str], Path], TrialAnswer] = field(default_factory=dict)
    _executed: dict[Path, Mapping[str, frozenset[Line]]] = field(default_factory=dict)

    def record(self, names: frozenset[str], paths: Iterable[Path], verdict: Verdict | None) -> None:
        """Record a verdict on the case with these fixes installed."""
        for path, shown in shown_by_path(paths, verdict).items():
            self._seen[names, path] = shown

    def knows(self, names: frozenset[str], paths: Iterable[Path]) -> bool:
        """Whether it is known what the paths show with these fixes installed."""
        return all((names, path) in self._seen for path in paths)

    def evaluate(
        self, names: frozenset[str], paths: Iterable[Path], budget: Budget
    ) -> Mapping[Path, TrialAnswer]:
        """Return what the paths show with only these fixes installed. Raises OutOfBudget."""
        paths = tuple(paths)
        missing = tuple(path for path in paths if (names, path) not in self._seen)
        if missing:
            budget.spend()
            self.record(names, missing, self._judged(names, missing))
        return {path: self._seen[names, path] for path in paths}

    def executed(self, path: Path, budget: Budget) -> Mapping[str, frozenset[Line]]:
        """Return the lines of all usable fixes that a path executes with all of them installed, by fix.

        Empty if the case cannot be judged with them. Raises OutOfBudget.
        """
        if path not in self._executed:
            budget.spend()
            self._executed[path] = self.executed_by(self.case, path)
        return self._executed[path]

    def executed_by(self, case: Case, path: Path) -> Mapping[str, frozenset[Line]]:
        """Return the same for another case."""
        remember(self.known.usable_fixes, cache_folder())  # or each process would compile all fixes
        lines = ExecutedLines(self.known.usable_fixes)
        with lines.recorded():
            verdict = self._judged(frozenset(self.known.usable), (path,), case)
        if case is self.case:
            self.record(frozenset(self.known.usable), (path,), verdict)
        return lines.by_fix if verdict is not None and verdict.valid else {}

    def _judged(
        self, names: frozenset[str], paths: tuple[Path, ...], case: Case | None = None
    ) -> Verdict | None:
        fixes = [self.known.fixes[name] for name in sorted(names)]
        try:
            with only_these_fixes(fixes):
                return self.judge(case or self.case, paths, fix_refusals(fixes))
        except FixError:
            return None  # each of them fits alone, but not all of them together
        except Exception as error:
            if not fixes_that_raised(error, fixes):
                raise
            return None  # with them, the model cannot even be built


def shown_by_path(paths: Iterable[Path], verdict: Verdict | None) -> dict[Path, TrialAnswer]:
    """Return what each of these paths shows in a verdict; None: the case could not be judged."""
    if verdict is None or not verdict.valid:
        return {path: TrialAnswer("invalid") for path in paths}
    results = {result.path: result for result in verdict.paths}
    return {
        path: TrialAnswer(
            results[path].status if path in results else "",
            tuple(each for each in verdict.findings if path in each.shown_on),
            results[path].reason if path in results else "",
            frozenset(
                words
                for each in verdict.findings
                if any(one.mode == path.mode for one in each.shown_on)
                for words in _consequences(each)
            ),
        )
        for path in paths
    }


def _consequences(finding: Finding) -> Iterable[Signature]:
    for each in finding.consequences:
        words = (each.check, each.evidence.kind, *each.evidence.words())
        yield words
        yield (*words, "probe")

"""Finds out which known bugs explain a finding, before the finding is reported.

Two silent wrong values of different bugs look alike. So fixes explain a finding on a path only if, with them
installed, the path

- no longer shows the finding, and
- shows no other finding, except those that plain torch shows, or that the corpus records as exposed by the
  fix.

A refusal counts as clean if the fix declares it, or if plain torch refuses in the same way. A fix that only
changes how a crash looks explains nothing. If no fix works, a finding belongs to the entry that it resembles;
see ``resemblance``.

A root cause has the name of its entry; other files that show it are variants. Nothing is remembered from one
program to the next, so that the answer does not depend on what a worker ran before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.explained import UNRESOLVED, ExplainedFinding, RootCause, on_paths
from exportdiff.known.attribution.knowledge import Knowledge
from exportdiff.known.attribution.resemblance import resembling, shows_as
from exportdiff.known.attribution.smallest import LADDER, Smallest
from exportdiff.known.attribution.trial import Budget, OutOfBudget, Trial
from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.judge_case import Judge
    from exportdiff.judging.results import Verdict
    from exportdiff.known.corpus.entry import Entry

JUDGEMENTS = 20
"""For each finding. To find one fix among 153 takes at most 13: five sets of growing size, the last with all
fixes, then seven to halve the last step, then one to verify the fix alone."""
SECONDS = 20.0
"""Seconds of CPU time for each program."""
BLOCKS = 12
"""If all fixes together do not mend a finding, they are tried in this many parts: one of the fixes may itself
cause a finding with the same signature."""


def explain(
    case: Case,
    verdict: Verdict,
    tags: Collection[str],
    known: Knowledge,
    judge: Judge = judge_case,
    *,
    mended: Verdict | None = None,
    judgements: int | None = None,
    each: int = JUDGEMENTS,
    seconds: float = SECONDS,
) -> tuple[ExplainedFinding, ...]:
    """Find the root causes of the findings that plain torch shows.

    Returns each finding of the verdict once, or once for each part of its paths that has other causes.
    ``tags``: the tags of the program. ``mended``: the verdict on mended torch, if there is one.
    ``judgements``: how often the case may be judged again for all findings together; None: no limit.
    ``each``: the same for one finding. ``seconds``: the limit of CPU time.
    """
    if not verdict.findings:
        return ()
    trial = Trial(case, known, judge)
    paths = tuple(dict.fromkeys(path for finding in verdict.findings for path in finding.shown_on))
    trial.record(frozenset(), paths, verdict)
    if mended is not None:
        trial.record(frozenset(known.usable), [result.path for result in mended.paths], mended)
    search = _Search(trial, tags, judgements, each, seconds)
    return tuple(part for finding in verdict.findings for part in search.parts(finding))


def likely_order(finding: Finding, case: Case, known: Knowledge) -> list[str]:
    """Return the names of all usable fixes, those of the most similar entries first."""
    order = [entry.fix for entry in _likely_entries(finding, case, known)]
    together = set(known.usable)
    return [name for name in dict.fromkeys([*order, *known.usable]) if name in together]


def entry_that_predicts(finding: Finding, fixes: Collection[str], known: Knowledge) -> Entry | None:
    """Return an entry of one of these fixes that records that the fix exposes this finding."""
    owners = (entry for entry in known.entries if entry.fix in fixes)
    return next((entry for entry in owners if any(map(finding.matches, entry.unmasked))), None)


class _Search:
    """Finds the causes of the findings of one program, one finding after the other."""

    def __init__(
        self, trial: Trial, tags: Collection[str], judgements: int | None, each: int, seconds: float
    ) -> None:
        self._trial = trial
        self._left = judgements
        self._each = each
        self._known = trial.known
        self._tags = tags
        self._until = time.process_time() + seconds
        self._answers: list[tuple[str, ...]] = []
        """The fixes that explain the other findings of this program: one bug usually shows in several
        ways."""

    def parts(self, finding: Finding) -> Iterator[ExplainedFinding]:
        """Yield the finding with its causes; in parts, if its paths have different causes."""
        while True:
            part = self._part(finding)
            yield part
            rest = tuple(path for path in finding.shown_on if path not in part.finding.shown_on)
            if not rest:
                return
            finding = on_paths(finding, rest)

    def _part(self, finding: Finding) -> ExplainedFinding:
        """Explain a finding on the paths that have the same explanation."""
        order = likely_order(finding, self._trial.case, self._known)
        judgements = self._each if self._left is None else min(self._each, self._left)
        budget = Budget(judgements, self._until - time.process_time())
        best = _Sufficient()
        remark = ""
        try:
            self._find(finding, order, budget, best)
            if best.names:
                self._reduce(finding, budget, best)
        except OutOfBudget as spent:
            remark = f"attribution {spent}"
        finally:
            if self._left is not None:
                self._left -= budget.spent
        if not best.names:
            alike = resembling(finding, self._trial.case, self._tags, self._known)
            return alike or ExplainedFinding(finding, remark=remark)
        part = on_paths(finding, best.paths)
        if remark and len(best.names) > 1:
            # It is verified that the fixes mend it, but not which of them are necessary.
            remark = f"{remark}: it is one of {len(best.names)} fixes that mend it, or several"
            return ExplainedFinding(part, (UNRESOLVED,), remark)
        self._answers.append(best.names)
        return ExplainedFinding(part, self._causes(part, best.names))

    def _find(self, finding: Finding, order: Sequence[str], budget: Budget, best: _Sufficient) -> None:
        """Find fixes that mend the finding on all paths, or on as many as possible."""
        size = -(-len(order) // BLOCKS) or 1
        if self._trial.knows(frozenset(order), finding.shown_on):
            self._try(finding, tuple(order), budget, best)
            if best.paths == finding.shown_on:
                return
        for names in (
            *self._answers,
            *(tuple(order[:size]) for size in LADDER if size < len(order)),
            tuple(order),
        ):
            self._try(finding, names, budget, best)
            if best.paths == finding.shown_on:
                return
        for start in range(0, len(order), size):
            if best.names:
                return
            self._try(finding, tuple(order[start : start + size]), budget, best)

    def _try(self, finding: Finding, names: tuple[str, ...], budget: Budget, best: _Sufficient) -> None:
        mended = self._mended(finding, names, budget)
        if len(mended) > len(best.paths):
            best.paths, best.names = mended, names

    def _reduce(self, finding: Finding, budget: Budget, best: _Sufficient) -> None:
        """Leave out the fixes that are not necessary, and the paths that one of the fixes does not mend."""
        part = on_paths(finding, best.paths)
        search = Smallest(best.names, lambda names: self._mended(part, names, budget) == part.shown_on)
        try:
            search.run()
        finally:
            best.names = search.verified
        if len(best.names) > 1 and len(best.paths) > 1:
            # Two bugs may look the same on two paths: then these are two findings.
            for name in best.names:
                mended = self._mended(part, (name,), budget)
                if mended:
                    best.paths, best.names = mended, (name,)
                    return

    def _mended(self, finding: Finding, names: Collection[str], budget: Budget) -> tuple[Path, ...]:
        """Return the paths of the finding that are clean with these fixes installed."""
        if not names:
            return ()
        before = self._trial.evaluate(frozenset(), finding.shown_on, budget)
        after = self._trial.evaluate(frozenset(names), finding.shown_on, budget)
        return tuple(
            path
            for path in finding.shown_on
            if after[path].status != "invalid"
            and (after[path].status != "unsupported" or after[path].reason in (*names, before[path].reason))
            and finding.signature not in after[path].signatures
            and all(
                each.signature in before[path].signatures | before[path].consequences
                or entry_that_predicts(each, names, self._known) is not None
                or resembling(each, self._trial.case, self._tags, self._known) is not None
                for each in after[path].findings
            )
        )

    def _causes(self, finding: Finding, names: Collection[str]) -> tuple[RootCause, ...]:
        entries = _likely_entries(finding, self._trial.case, self._known)
        first = {entry.fix: entry.root for entry in reversed(entries)}
        return tuple(RootCause(name, first.get(name, "")) for name in sorted(names))


@dataclass
class _Sufficient:
    """Fixes that together mend a finding on some paths."""

    names: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()


def on_first_paths(verdict: Verdict) -> Verdict:
    """Return a verdict with each finding on its first path only, which is enough to count known bugs."""
    findings = tuple(on_paths(finding, (finding.path,)) for finding in verdict.findings)
    return replace(verdict, findings=findings)


def _likely_entries(finding: Finding, case: Case, known: Knowledge) -> list[Entry]:
    """Return all entries: first those that show as the finding does, and of these the most similar
    programs."""
    scores = dict(zip(known.entries, known.likeness.of(case.source), strict=True))
    return sorted(
        known.entries,
        key=lambda entry: (
            not shows_as(entry, finding),
            parse(entry.path).transforms != finding.transforms,
            -scores[entry],
        ),
    )

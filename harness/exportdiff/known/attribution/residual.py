"""Classifies what mended torch still shows: a new bug, one that a known bug hid, or a mistake of a fix.

Plain torch is judged on the paths of these findings:

- It shows the same: the bug is **new**.
- It is right: a fix is wrong, and the finding is a **regression** of that fix.
- It shows something else, or refuses: a known bug hid this one. The finding is **masked**.

To find the exposing fixes of a finding takes up to 50 judgements. A campaign does that once per fingerprint
(``find_exposing_fixes``), not on each program.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.attribute import entry_that_predicts, likely_order
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause, on_paths
from exportdiff.known.attribution.resemblance import resembling
from exportdiff.known.attribution.smallest import Smallest
from exportdiff.known.attribution.trial import Budget, OutOfBudget, Trial, TrialAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.judge_case import Judge
    from exportdiff.judging.results import Verdict
    from exportdiff.known.attribution.classification import ClassificationKind
    from exportdiff.known.attribution.knowledge import Knowledge

JUDGEMENTS = 50
"""For each finding, to find its exposing fixes. Each fix takes about 13, among 190 fixes."""
SECONDS = 20.0
"""Seconds of CPU time for each program: a third of the time after which a program counts as hanging."""


FIRST = 4
"""How many fixes to try first for each finding that may hide this one."""


@dataclass(frozen=True)
class ResidualFinding:
    """A finding of mended torch that no entry explains."""

    finding: Finding
    classification: Classification


def sort_residual_findings(
    case: Case,
    mended: Verdict,
    tags: Collection[str],
    known: Knowledge,
    judge: Judge = judge_case,
    *,
    plain: Verdict | None = None,
    search: bool = True,
) -> tuple[ExplainedFinding | ResidualFinding, ...]:
    """Sort the findings of mended torch.

    A finding that resembles an entry that no fix mends is known. ``plain``: the verdict on plain torch on the
    same paths, if there is one. ``search``: whether to find the exposing fixes.
    """
    if not mended.findings:
        return ()
    trial = Trial(case, known, judge)
    everything = frozenset(known.usable)
    trial.record(everything, [result.path for result in mended.paths], mended)
    if plain is not None:
        trial.record(frozenset(), [result.path for result in mended.paths], plain)
    alike = {finding: resembling(finding, case, tags, known) for finding in mended.findings}
    left = [finding for finding, answer in alike.items() if answer is None]
    paths = dict.fromkeys(path for finding in left for path in finding.shown_on)
    shown = trial.evaluate(frozenset(), paths, Budget(1, SECONDS)) if left else {}
    sorting = _Sorting(trial, shown, search)
    answers: list[ExplainedFinding | ResidualFinding] = []
    for finding in mended.findings:
        explained = alike[finding]
        answers += [explained] if explained is not None else sorting.parts(finding)
    return tuple(answers)


def find_exposing_fixes(
    case: Case, finding: Finding, kind: ClassificationKind, known: Knowledge, judge: Judge = judge_case
) -> ExplainedFinding | ResidualFinding:
    """Find the fewest fixes with which a finding shows that plain torch does not show."""
    trial = Trial(case, known, judge)
    plain = trial.evaluate(frozenset(), (finding.path,), Budget(1, SECONDS))
    return _Sorting(trial, plain, search=True).exposed(finding, kind)


class _Sorting:
    """Sorts the findings of one program."""

    def __init__(self, trial: Trial, plain: Mapping[Path, TrialAnswer], search: bool) -> None:
        self._trial = trial
        self._search = search
        self._known = trial.known
        self._plain = plain
        self._until = time.process_time() + SECONDS

    def parts(self, finding: Finding) -> Iterator[ExplainedFinding | ResidualFinding]:
        """Yield the finding; in parts, if a fix is wrong on some of its paths and right on others."""
        plain = {path: self._plain[path] for path in finding.shown_on}
        if any(finding.signature in shown.signatures for shown in plain.values()):
            yield ResidualFinding(finding, NEW)
            return
        if any(shown.status == "invalid" for shown in plain.values()):
            yield ResidualFinding(finding, Classification(remark="plain torch does not run the program"))
            return
        right = tuple(path for path, shown in plain.items() if shown.status == "ok")
        other = tuple(path for path in finding.shown_on if path not in right)
        if right:
            yield self.exposed(on_paths(finding, right), "regression")
        if other:
            yield self.exposed(on_paths(finding, other), "masked")

    def exposed(self, finding: Finding, kind: ClassificationKind) -> ExplainedFinding | ResidualFinding:
        """Find the fewest fixes with which the finding shows on its first path, if ``search`` is set."""
        if not self._search:
            return ResidualFinding(finding, Classification(kind, searched=False))
        budget = Budget(JUDGEMENTS, self._until - time.process_time())

        def shows(names: frozenset[str]) -> bool:
            shown = self._trial.evaluate(names, (finding.path,), budget)[finding.path]
            return finding.signature in shown.signatures

        search = Smallest(self._order(finding), shows)
        remark = ""
        try:
            search.run()
        except OutOfBudget as spent:
            remark = f"the search for the fixes that expose it {spent}"
        fixes = tuple(sorted(search.verified))
        # The corpus may record that a fix exposes it.
        entry = entry_that_predicts(finding, fixes, self._known) if kind == "masked" else None
        if entry is not None:
            cause = KnownCause(entry.fix, entry.file.stem, self._known.bug(entry.root))
            return ExplainedFinding(finding, (cause,))
        return ResidualFinding(finding, Classification(kind, fixes, remark))

    def _order(self, finding: Finding) -> list[str]:
        """Return the names of all fixes, first those of what plain torch shows on the path instead."""
        others = self._plain[finding.path].findings
        likely = (likely_order(each, self._trial.case, self._known)[:FIRST] for each in others)
        rest = likely_order(finding, self._trial.case, self._known)
        return list(dict.fromkeys([*(name for names in likely for name in names), *rest]))

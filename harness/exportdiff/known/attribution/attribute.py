"""Finds out which known bugs explain a finding, before the finding is reported.

Two silent wrong values of different bugs look alike. So fixes explain a finding on a path only if, with them
installed, the path

- no longer shows the finding, and
- shows no other finding, except those that plain torch shows, or that the corpus records as exposed by the
  fix.

A refusal counts as clean if the fix declares it, or if plain torch refuses in the same way. A fix that only
changes how a crash looks explains nothing. If several fixes are necessary, one is named only if the finding
comes back without it; the others mend what the named ones expose. If no fix works, a finding belongs to the
entry that it resembles; see ``resemblance``.

A root cause has the name of its entry; other files that show it are variants. Nothing is remembered from one
program to the next, so that the answer does not depend on what a worker ran before.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.judging.judge_case import judge_case
from exportdiff.known.attribution.explained import UNRESOLVED, ExplainedFinding, KnownCause, on_paths
from exportdiff.known.attribution.knowledge import Knowledge
from exportdiff.known.attribution.resemblance import resembling, shows_as
from exportdiff.known.attribution.smallest import Smallest
from exportdiff.known.attribution.suspects import Suspects
from exportdiff.known.attribution.trial import Budget, OutOfBudget, Trial
from exportdiff.runtime.paths import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.judge_case import Judge
    from exportdiff.judging.results import Verdict
    from exportdiff.known.corpus.entry import Entry

JUDGEMENTS = 20
"""For each finding and explanation. Usually one that records which fixes are executed, and one to three that
try fixes."""
SECONDS = 20.0
"""Seconds of CPU time for each program."""
FIRST = 3
"""How many of the likeliest fixes are tried alone."""
BLOCKS = 8
"""If all fixes together do not mend a finding, they are tried in this many parts: one of the fixes may itself
cause a finding with the same signature."""
NEW_ON = 2
"""A finding that no fix explains on this many of its paths is not looked for on the others."""


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

    Returns each finding of the verdict once, or once for each part of its paths that has other causes. The
    arguments are those of ``explanations``.
    """
    found = explanations(
        case, verdict, tags, known, judge, mended=mended, judgements=judgements, each=each, seconds=seconds
    )
    return tuple(part for parts in found for part in parts)


def explanations(
    case: Case,
    verdict: Verdict,
    tags: Collection[str],
    known: Knowledge,
    judge: Judge = judge_case,
    *,
    mended: Verdict | None = None,
    wanted: Collection[Finding] | None = None,
    judgements: int | None = None,
    each: int = JUDGEMENTS,
    seconds: float = SECONDS,
) -> Iterator[tuple[ExplainedFinding, ...]]:
    """Yield each finding of a verdict with its root causes, as soon as they are known.

    A finding has several parts if some of its paths have other causes.
    ``tags``: the tags of the program. ``mended``: the verdict on mended torch, if there is one.
    ``wanted``: the findings to explain; None: all.
    ``judgements``: how often the case may be judged again for all findings together; None: no limit.
    ``each``: the same for one finding. ``seconds``: the limit of CPU time.
    """
    if not verdict.findings:
        return
    trial = Trial(case, known, judge)
    paths = tuple(dict.fromkeys(path for finding in verdict.findings for path in finding.shown_on))
    trial.record(frozenset(), paths, verdict)
    if mended is not None:
        trial.record(frozenset(known.usable), [result.path for result in mended.paths], mended)
    search = _Search(trial, tags, judgements, each, seconds)
    for finding in verdict.findings if wanted is None else wanted:
        yield tuple(search.parts(finding))


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
        self._suspects = Suspects(trial)
        self._answers: list[tuple[str, ...]] = []
        """The fixes that explain the other findings of this program: one bug usually shows in several
        ways."""

    def parts(self, finding: Finding) -> Iterator[ExplainedFinding]:
        """Yield the finding with its causes; in parts, if its paths have different causes."""
        waiting = finding.shown_on
        left: list[Path] = []
        unexplained: ExplainedFinding | None = None
        while waiting:
            part = self._part(on_paths(finding, waiting))
            if part.causes:
                yield part
                waiting = tuple(path for path in waiting if path not in part.finding.shown_on)
                continue
            unexplained = part
            left.append(waiting[0])
            waiting = waiting[1:]
            if len(left) == NEW_ON or not part.searched:
                left += waiting
                break
        if unexplained is not None:
            yield replace(unexplained, finding=on_paths(finding, tuple(left)))

    def _part(self, finding: Finding) -> ExplainedFinding:
        """Explain a finding on its first path, and on all paths with the same explanation."""
        judgements = self._each if self._left is None else min(self._each, self._left)
        budget = Budget(judgements, self._until - time.process_time())
        names: tuple[str, ...] = ()
        paths: tuple[Path, ...] = (finding.path,)
        remark = ""
        try:
            names = self._find(on_paths(finding, paths), budget)
            if len(names) > 1:
                names, remark = self._reduced(on_paths(finding, paths), names, budget)
            if names and len(finding.shown_on) > 1:
                paths = self._mended(finding, names, budget)
        except OutOfBudget as spent:
            remark = f"attribution {spent}"
            names = names or self._all_that_mend(on_paths(finding, (finding.path,)), budget)
        finally:
            if self._left is not None:
                self._left -= budget.spent
        if not names:
            alike = resembling(finding, self._trial.case, self._tags, self._known)
            return alike or ExplainedFinding(finding, remark=remark, searched=not remark)
        part = on_paths(finding, paths)
        if remark and len(names) > 1:
            causes = self._causes(part, names)
            if len({cause.root for cause in causes}) == 1:
                return ExplainedFinding(part, causes[:1])
            # It is verified that the fixes mend it, but not which of them are necessary.
            remark = f"{remark}: it is one of {len(names)} fixes that mend it, or several"
            return ExplainedFinding(part, (replace(UNRESOLVED, candidates=causes),), remark)
        self._answers.append(names)
        return ExplainedFinding(part, self._causes(part, self._causing(part, names, budget)))

    def _causing(self, finding: Finding, names: tuple[str, ...], budget: Budget) -> tuple[str, ...]:
        """Leave out the fixes that only mend what the others expose: without them the finding is gone too."""
        if len(names) < 2:
            return names
        path, every = finding.path, frozenset(names)
        try:
            shown = {name: self._trial.evaluate(every - {name}, (path,), budget)[path] for name in names}
        except OutOfBudget:
            return names
        return tuple(name for name in names if finding.signature in shown[name].signatures) or names

    def _all_that_mend(self, finding: Finding, budget: Budget) -> tuple[str, ...]:
        """Return all fixes if it is known that together they mend the finding; else an empty tuple."""
        names = self._known.usable
        known = self._trial.knows(frozenset(names), finding.shown_on)
        return names if known and self._mended(finding, names, budget) else ()

    def _find(self, finding: Finding, budget: Budget) -> tuple[str, ...]:
        """Find fixes that mend the finding, on its only path; return an empty tuple if there are none."""
        similar = likely_order(finding, self._trial.case, self._known)
        order = self._suspects.order(finding, similar, budget)
        answers = [names for names in self._answers if set(names) <= set(order.executed)]
        first = order.executed[:FIRST]
        found = tuple(dict.fromkeys(name for names in answers for name in names))
        likely = tuple(dict.fromkeys((*found, *order.likely)))
        for names in (
            *answers,
            *((name,) for name in first),
            likely,
            tuple(dict.fromkeys((*likely, *order.executed))),
            tuple(similar),
        ):
            if self._mended(finding, names, budget):
                return names
        size = -(-len(order.executed) // BLOCKS) or 1
        for start in range(0, len(order.executed), size):
            if self._mended(finding, names := order.executed[start : start + size], budget):
                return names
        return ()

    def _reduced(
        self, finding: Finding, names: tuple[str, ...], budget: Budget
    ) -> tuple[tuple[str, ...], str]:
        """Leave out the fixes that are not necessary; also return why that ended early, or an empty text."""
        search = Smallest(names, lambda some: bool(self._mended(finding, some, budget)))
        try:
            search.run()
        except OutOfBudget as spent:
            return search.verified, f"attribution {spent}"
        return search.verified, ""

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

    def _causes(self, finding: Finding, names: Collection[str]) -> tuple[KnownCause, ...]:
        entries = _likely_entries(finding, self._trial.case, self._known)
        first = {entry.fix: entry.root for entry in reversed(entries)}
        roots = {name: first.get(name, "") for name in sorted(names)}
        return tuple(KnownCause(name, root, self._known.bug(root)) for name, root in roots.items())


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

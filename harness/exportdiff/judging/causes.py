"""The rule that decides which differences are findings, and which are consequences of another one.

Each evidence class declares its relation to the other differences of its path (``core.finding.Relation``).
On one path:

1. INDEPENDENT, SPOILS_* and MISSING_STATE: each difference is a separate finding.
2. IN_CALL and IN_CALL_WEAK: the first difference is a finding, and the others are its consequences. The
   first is the one of the earliest call; one before the first call is earlier still. Within a call the order
   of the checks decides, with the weak ones last.
3. POSSIBLE_CAUSE: if a call shows a difference, these are consequences of that one, listed before the others
   because they may be the reason. If no call shows any, the first is a finding, and the others are its
   consequences. Nor is such a consequence a finding on other paths of the same mode: these share the export.
4. If the path raises (the first difference of rule 2 is an exception), MISSING_STATE is a consequence: a
   missing name may well be the reason, but the exception says more.
5. If a SPOILS_* difference plainly causes the first difference of rule 2, then that is not a finding. Like
   all others of rules 2 and 3, it is a consequence of the SPOILS_* difference. SPOILS_START: export changed
   the state, so it is wrong from the start. SPOILS_CALLS: a change of one tensor no longer reaches all its
   names. SPOILS_VALUES: the same for values only. An exception is never explained in this way.

Findings of one signature are one finding: on one path, the further ones are consequences of the first; on
several paths, the first path has the finding, which lists the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from exportdiff.core.finding import Consequence, Finding, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exportdiff.core.finding import Draws
    from exportdiff.core.path import Path

Difference = Consequence
"""A difference and the name of its check, before it is known whether it is a finding or a consequence."""

_SHOWN_IN_CALLS = (Relation.IN_CALL, Relation.IN_CALL_WEAK, Relation.POSSIBLE_CAUSE)


@dataclass(frozen=True)
class PathFindings:
    """The findings of one path."""

    findings: tuple[Finding, ...]
    possible_causes: frozenset[tuple[str, ...]]
    """Signatures of rule 3's consequences: no findings on other paths of the same mode."""


def path_findings(
    differences: Iterable[Difference],
    path: Path,
    probes: frozenset[int] = frozenset(),
    draws: frozenset[Draws] = frozenset(),
) -> PathFindings:
    """Sort the differences of one path into findings and consequences.

    ``differences`` are in the order of the checks; ``probes`` are the numbers of the calls with other sizes;
    ``draws`` says where the program draws random numbers.
    """
    seen = list(differences)
    alone = [each for each in seen if each.evidence.relation not in _SHOWN_IN_CALLS]
    in_calls = sorted((each for each in seen if each.evidence.relation in _SHOWN_IN_CALLS), key=_order)
    if in_calls and in_calls[0].evidence.kind == "crash":
        in_calls += [each for each in alone if _relation(each) is Relation.MISSING_STATE]
        alone = [each for each in alone if _relation(each) is not Relation.MISSING_STATE]
    findings = [_finding(each, path, probes, draws) for each in alone]
    possible: tuple[Difference, ...] = ()
    if in_calls:
        first, *rest = in_calls
        possible = tuple(each for each in rest if _relation(each) is Relation.POSSIBLE_CAUSE)
        others = tuple(each for each in rest if _relation(each) is not Relation.POSSIBLE_CAUSE)
        spoiler = next((n for n, each in enumerate(alone) if _spoils(_relation(each), first)), None)
        if spoiler is None:
            found = _finding(first, path, probes, draws)
            findings.insert(0, replace(found, consequences=(*possible, *others)))
        else:
            findings[spoiler] = replace(findings[spoiler], consequences=(first, *possible, *others))
        possible = tuple(each for each in possible if each.evidence.words() != first.evidence.words())
    signatures = frozenset(_finding(each, path, probes, draws).signature for each in possible)
    return PathFindings(folded(findings), signatures)


def _relation(seen: Difference) -> Relation:
    return seen.evidence.relation


def _order(seen: Difference) -> tuple[bool, int, bool]:
    """Sort by rules 2 and 3; what is equal keeps the order of the checks."""
    call = -1 if seen.evidence.call is None else seen.evidence.call
    relation = _relation(seen)
    return relation is Relation.POSSIBLE_CAUSE, call, relation is Relation.IN_CALL_WEAK


def _spoils(relation: Relation, first: Difference) -> bool:
    """Whether a difference of this relation is plainly the cause of the first one in a call (rule 5)."""
    evidence = first.evidence
    if evidence.kind != "mismatch" or evidence.relation is Relation.POSSIBLE_CAUSE:
        return False
    if evidence.call is None:
        return relation is Relation.SPOILS_START
    if relation is Relation.SPOILS_VALUES:
        return evidence.aspect == "value" or first.check == "aliasing"
    return relation is Relation.SPOILS_CALLS


def _finding(seen: Difference, path: Path, probes: frozenset[int], draws: frozenset[Draws]) -> Finding:
    return Finding(path, seen.check, seen.evidence, probe=seen.evidence.call in probes, draws=draws)


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Make one finding of those with one signature: the first, with the paths or evidence of the others."""
    kept: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        first = kept.setdefault(finding.signature, finding)
        if first is finding:
            continue
        if finding.path == first.path:
            more = (Consequence(finding.check, finding.evidence), *finding.consequences)
            kept[finding.signature] = replace(first, consequences=(*first.consequences, *more))
        else:
            shown = (each.on(path) for each in (first, finding) for path in each.shown_on)
            kept[finding.signature] = first.showing(shown)
    return tuple(kept.values())


def over_paths(judgements: Sequence[tuple[Path, PathFindings]]) -> tuple[Finding, ...]:
    """Fold the findings of all paths, in the order of the paths, without those that rule 3 leaves out."""
    left_out = {(path.mode, *words) for path, each in judgements for words in each.possible_causes}
    return folded(
        found
        for path, each in judgements
        for found in each.findings
        if (path.mode, *found.signature) not in left_out
    )

"""The rule that decides which findings a baseline accepts.

A finding is accepted on a path if an entry for this model and path has the same check, kind and signature, no
other root cause, and each of the differences that the path shows now. A difference of numbers may be as large
as the entry allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from exportdiff.core.difference import Amount, amount, what_differs
from exportdiff.known.attribution.explained import UNRESOLVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from exportdiff.core.finding import Evidence, ShownOn
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.interfaces.checking.report import Report

TOLERANCES = 100
"""An entry without a bound accepts differences of up to 100 times the default tolerance."""


@dataclass(frozen=True)
class AcceptedDifference:
    """One difference of a finding, on one path."""

    check: str
    evidence: str
    """The name of the evidence class."""
    call: int | None
    """The number of the call that shows it; None: no call is needed."""
    what: Mapping[str, Any]
    """Which difference it is: for example the name of the output or buffer."""
    amount: Amount | None
    """How large it is, or may be; None: it is not one of numbers."""
    headline: str = ""
    """For people."""

    @classmethod
    def of(cls, check: str, evidence: Evidence) -> AcceptedDifference:
        """Describe what a check saw."""
        what, size = what_differs(evidence), amount(evidence)
        return cls(check, type(evidence).__name__, evidence.call, what, size, evidence.headline)

    @property
    def size(self) -> str:
        """How large it is, or may be, for people."""
        if self.amount is None:
            return "no numbers"
        relative = self.amount.relative
        more = f" ({relative:.3g} of the largest element)" if math.isfinite(relative) else ""
        return f"{self.amount.absolute:.3g} apart{more}"

    def is_within(self, bound: Amount | None) -> bool:
        """Whether it is not larger than a bound; None: TOLERANCES times the default tolerance."""
        if self.amount is None:
            return True
        if bound is None:
            return self.amount.absolute <= TOLERANCES * self.amount.tolerated
        return self.amount.within(bound)

    def is_same(self, other: AcceptedDifference) -> bool:
        """Whether both are the same difference, however large."""
        ours, theirs = ((each.check, each.evidence, each.call, each.what) for each in (self, other))
        return ours == theirs


def differences(shown: ShownOn, check: str) -> tuple[AcceptedDifference, ...]:
    """Return all differences that a path shows of a finding of ``check``."""
    rest = (AcceptedDifference.of(each.check, each.evidence) for each in shown.consequences)
    return (AcceptedDifference.of(check, shown.evidence), *rest)


class Accepted(Protocol):
    """What somebody accepts."""

    def covers(self, found: Found, path: Path) -> bool:
        """Whether it is about this finding on this path, however large the difference is."""

    def objection(self, found: Found, path: Path) -> str:
        """Say why the finding is not accepted although it is covered; empty: it is accepted."""


@dataclass(frozen=True)
class _OfSignature:
    """An entry of a baseline, as far as it says which findings it is about."""

    check: str
    kind: str
    signature: tuple[str, ...]
    paths: frozenset[str]
    """The names of the paths, without device."""

    def covers(self, found: Found, path: Path) -> bool:
        """Whether it has the same check, kind and signature, on this path."""
        finding = found.finding
        now = finding.check, finding.kind, finding.signature
        return path.without_device in self.paths and now == (self.check, self.kind, self.signature)


@dataclass(frozen=True)
class AcceptedFinding(_OfSignature):
    """An entry of a baseline."""

    root_causes: frozenset[str]
    """The known bugs of torch that explained it; empty: none was known."""
    differences: tuple[AcceptedDifference, ...]
    """The amounts are bounds."""

    def objection(self, found: Found, path: Path) -> str:
        """Name another root cause, a difference that is not in the baseline, or one that is too large."""
        if (known := root_causes(found)) != self.root_causes and self.root_causes and not _unexplained(found):
            now = ", ".join(sorted(known)) or "no known bug explains it"
            return f"the baseline accepts it as {', '.join(sorted(self.root_causes))}; now: {now}"
        for each in differences(found.finding.on(path), found.finding.check):
            same = [one for one in self.differences if one.is_same(each)]
            if not same:
                return f"the baseline does not have: {each.headline}"
            if not any(each.is_within(one.amount) for one in same):
                return f"{each.size}; the baseline accepts at most {same[0].size}"
        return ""


@dataclass(frozen=True)
class AcceptedWithoutBound(_OfSignature):
    """An entry of a baseline of format 1."""

    def objection(self, found: Found, path: Path) -> str:
        """Say that a difference is too large for an entry without a bound."""
        return _too_large_without_bound(found, path)


@dataclass(frozen=True)
class AcceptedFingerprint:
    """A fingerprint that was passed to ``compare``."""

    fingerprint: str

    def covers(self, found: Found, path: Path) -> bool:
        """Whether the finding has this fingerprint."""
        return found.finding.fingerprint == self.fingerprint

    def objection(self, found: Found, path: Path) -> str:
        """Say that a difference is too large for a fingerprint, which has no bound."""
        return _too_large_without_bound(found, path)


def _too_large_without_bound(found: Found, path: Path) -> str:
    """Say which difference is larger than TOLERANCES times the default tolerance; empty: none."""
    for each in differences(found.finding.on(path), found.finding.check):
        if each.amount is not None and not each.is_within(None):
            most = TOLERANCES * each.amount.tolerated
            return f"{each.size}; without a bound, at most {most:.3g} is accepted: write a baseline"
    return ""


def with_accepted(report: Report, accepted: Sequence[Accepted]) -> Report:
    """Mark the accepted findings; a finding that is accepted on some of its paths is split into two."""
    return report.with_found(marked(report.found, accepted))


def marked(found: Iterable[Found], accepted: Sequence[Accepted]) -> tuple[Found, ...]:
    """Mark those of these findings that are accepted."""
    return tuple(part for each in found for part in _parts(each, accepted))


def _parts(found: Found, accepted: Sequence[Accepted]) -> Iterator[Found]:
    finding = found.finding
    answers = {path: _objections(found, path, accepted) for path in finding.shown_on}
    inside = [path for path, objections in answers.items() if "" in objections]
    outside = [path for path in answers if path not in inside]
    if inside:
        yield replace(found, finding=finding.showing(map(finding.on, inside)), accepted=True)
    if outside:
        because = next((each for path in outside for each in answers[path]), found.not_accepted_because)
        yield replace(found, finding=finding.showing(map(finding.on, outside)), not_accepted_because=because)


def _objections(found: Found, path: Path, accepted: Iterable[Accepted]) -> list[str]:
    return [each.objection(found, path) for each in accepted if each.covers(found, path)]


Entry: TypeAlias = AcceptedFinding | AcceptedWithoutBound
"""An entry of a baseline."""


def no_longer_shown(report: Report, accepted: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries that no finding has, if all their paths were judged."""
    judged = {each.path.without_device for each in report.paths}
    for entry in accepted:
        shown = any(entry.covers(each, path) for each in report.found for path in each.finding.shown_on)
        if not shown and entry.paths <= judged:
            yield entry


def root_causes(found: Found) -> frozenset[str]:
    """Return the names of the known bugs that explain a finding."""
    return frozenset(each.root for each in found.causes if each != UNRESOLVED)


def _unexplained(found: Found) -> bool:
    """Whether the search for known bugs ended before it had found an answer."""
    return UNRESOLVED in found.causes or not found.searched

"""What changed since another campaign, for example the one of the night before."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.tally import TalliedFinding, Tally

LUCK = 0.002
"""A rate counts as changed if chance alone would cause such a difference in fewer than 1 of 500 cases."""


@dataclass(frozen=True)
class Rate:
    """How many programs show a known bug, in two campaigns."""

    name: str
    before: int
    of_before: int
    """The number of programs on which known bugs were counted."""
    now: int
    of_now: int

    @property
    def share_before(self) -> float:
        """The rate before, from 0 to 1."""
        return self.before / self.of_before if self.of_before else 0.0

    @property
    def share(self) -> float:
        """The rate now, from 0 to 1."""
        return self.now / self.of_now if self.of_now else 0.0

    @property
    def chance(self) -> float:
        """The probability of this difference or a less likely one, if both rates are equal.

        If the sum of both counts is given, the second count has a binomial distribution. This is the exact
        test of Przyborowski and Wilenski (1940).
        """
        total, programs = self.before + self.now, self.of_before + self.of_now
        if not self.of_before or not self.of_now:
            return 1.0
        share = self.of_now / programs
        outcomes = [_binomial(total, number, share) for number in range(total + 1)]
        # Outcomes of the same probability count as well, whatever the rounding.
        likely = outcomes[self.now] * (1 + 1e-9)
        return min(1.0, sum(each for each in outcomes if each <= likely))

    @property
    def changed(self) -> bool:
        """Whether chance alone does not explain the change."""
        return self.chance < LUCK

    @property
    def gone(self) -> bool:
        """Whether the bug is not found now, and chance alone does not explain that."""
        return self.changed and not self.now


def _binomial(total: int, number: int, share: float) -> float:
    """Return the probability of ``number`` hits in ``total`` tries, each with the probability ``share``."""
    ways = lgamma(total + 1) - lgamma(number + 1) - lgamma(total - number + 1)
    return exp(ways + number * log(share) + (total - number) * log(1 - share))


@dataclass(frozen=True)
class CampaignComparison:
    """The differences between two campaigns."""

    before: CampaignReport
    new_findings: frozenset[str]
    """The findings, by the keys of ``Tally.findings``, that the campaign before did not have."""
    gone: tuple[TalliedFinding, ...]
    """The findings of the campaign before that this one does not have."""
    new_bugs: frozenset[str]
    """The known bugs that this campaign found and the one before did not."""
    rates: tuple[Rate, ...]
    """Of all known bugs that one of them counted; the least likely change first."""
    same_programs: bool
    """Whether both drew the same programs, so that no finding is missing by chance."""


def compare_campaigns(now: CampaignReport, before: CampaignReport) -> CampaignComparison:
    """Compare two campaigns."""
    ours, theirs = _names(now.tally), _names(before.tally)
    # Known bugs are counted alike only on programs that plain torch was judged on.
    here, there = now.timeline.known(), before.timeline.known()
    rates = [
        Rate(name, there.seen[name], there.programs, here.seen[name], here.programs)
        for name in {*here.seen, *there.seen}
    ]
    return CampaignComparison(
        before=before,
        new_findings=frozenset(key for key, aliases in ours.items() if not _any(aliases, theirs)),
        gone=tuple(before.tally.findings[key] for key, aliases in theirs.items() if not _any(aliases, ours)),
        new_bugs=frozenset(now.tally.known.keys() - before.tally.known.keys()),
        rates=tuple(sorted(rates, key=lambda rate: (rate.chance, rate.name))),
        same_programs=_programs(now.tally) == _programs(before.tally) != (),
    )


def _names(tally: Tally) -> dict[str, frozenset[str]]:
    """Return the fingerprints of each finding: the first one, and that of the minimized program."""
    return {key: frozenset({key, each.finding.fingerprint}) for key, each in tally.findings.items()}


def _any(aliases: frozenset[str], others: dict[str, frozenset[str]]) -> bool:
    return any(aliases & other for other in others.values())


def _programs(tally: Tally) -> tuple[object, ...]:
    """Return what the programs of a campaign depend on; empty: that was not recorded."""
    started = tally.started
    if started is None or started.environment is None or not started.environment.exportdiff:
        return ()
    code = started.environment.exportdiff
    return (started.seed, started.profile, started.paths, tally.examples, code)

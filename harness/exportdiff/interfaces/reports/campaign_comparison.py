"""What changed since another campaign: the campaign before, or the same programs on another torch."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.tally import TalliedFinding, Tally

LUCK = 0.002
"""A rate has changed if chance alone would make such a difference less often: once in 500 times."""


@dataclass(frozen=True)
class Rate:
    """How often a known bug was counted in two campaigns."""

    name: str
    before: int
    of_before: int
    """On how many programs known bugs were counted."""
    now: int
    of_now: int

    @property
    def share_before(self) -> float:
        """From 0 to 1."""
        return self.before / self.of_before if self.of_before else 0.0

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.now / self.of_now if self.of_now else 0.0

    @property
    def chance(self) -> float:
        """The probability of a difference like this one, or a less likely one, between two equal rates.

        Given the sum of the two counts, the second has a binomial distribution, whatever the rates are: the
        exact test of Przyborowski and Wilenski (1940).
        """
        total, programs = self.before + self.now, self.of_before + self.of_now
        if not self.of_before or not self.of_now:
            return 1.0
        share = self.of_now / programs
        outcomes = [_binomial(total, number, share) for number in range(total + 1)]
        likely = outcomes[self.now] * (
            1 + 1e-9
        )  # outcomes of the same probability count, rounded as they are
        return min(1.0, sum(each for each in outcomes if each <= likely))

    @property
    def changed(self) -> bool:
        """Whether chance alone hardly explains the change."""
        return self.chance < LUCK

    @property
    def gone(self) -> bool:
        """Whether it was there, is not seen now, and chance alone hardly explains that."""
        return self.changed and not self.now


def _binomial(total: int, number: int, share: float) -> float:
    """Return the probability of so many hits in ``total`` tries, each with the probability ``share``."""
    ways = lgamma(total + 1) - lgamma(number + 1) - lgamma(total - number + 1)
    return exp(ways + number * log(share) + (total - number) * log(1 - share))


@dataclass(frozen=True)
class CampaignComparison:
    """The differences between two campaigns."""

    before: CampaignReport
    fresh: frozenset[str]
    """The findings, by the keys of ``Tally.shown``, that the campaign before did not have."""
    gone: tuple[TalliedFinding, ...]
    """The findings of the campaign before that this one does not have."""
    entered: frozenset[str]
    """Known bugs that this campaign saw and the one before did not."""
    rates: tuple[Rate, ...]
    """Of all known bugs that one of them has counted, the least likely change first."""
    same_programs: bool
    """Whether both drew the same programs: then what is gone is gone."""


def since(now: CampaignReport, before: CampaignReport) -> CampaignComparison:
    """Compare two campaigns."""
    ours, theirs = _names(now.tally), _names(before.tally)
    # Only where plain torch was judged are known bugs counted alike.
    here, there = now.timeline.known(), before.timeline.known()
    rates = [
        Rate(name, there.seen[name], there.programs, here.seen[name], here.programs)
        for name in {*here.seen, *there.seen}
    ]
    return CampaignComparison(
        before=before,
        fresh=frozenset(key for key, aliases in ours.items() if not _any(aliases, theirs)),
        gone=tuple(before.tally.shown[key] for key, aliases in theirs.items() if not _any(aliases, ours)),
        entered=frozenset(now.tally.known.keys() - before.tally.known.keys()),
        rates=tuple(sorted(rates, key=lambda rate: (rate.chance, rate.name))),
        same_programs=_programs(now.tally) == _programs(before.tally) != (),
    )


def _names(tally: Tally) -> dict[str, frozenset[str]]:
    """Return for each finding its fingerprints: the first, and that of the minimized program."""
    return {key: frozenset({key, shown.finding.fingerprint}) for key, shown in tally.shown.items()}


def _any(aliases: frozenset[str], others: dict[str, frozenset[str]]) -> bool:
    return any(aliases & other for other in others.values())


def _programs(tally: Tally) -> tuple[object, ...]:
    """Return what the programs of a campaign depend on; nothing, if that was not recorded."""
    started = tally.started
    if started is None or started.environment is None or not started.environment.exportdiff:
        return ()
    code = started.environment.exportdiff
    return (started.seed, started.profile, started.paths, tally.examples, code)

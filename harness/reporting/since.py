"""What changed since another campaign: the night before, or the same programs on another torch."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.reporting.night import Night
    from harness.reporting.tally import Shown, Tally

SURE = 3.0
"""A rate has changed if chance alone would move it by so many standard deviations once in some 400 times."""
LUCK = 0.01
"""What was there and is not seen counts as gone if chance alone explains that less often."""


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
    def deviations(self) -> float:
        """By how many standard deviations the rate has moved.

        Twice the difference of the square roots of two Poisson rates has the variance 1/n + 1/m, whatever
        the rates are (Bartlett 1936).
        """
        if not self.of_before or not self.of_now:
            return 0.0
        return 2 * (sqrt(self.share) - sqrt(self.share_before)) / sqrt(1 / self.of_before + 1 / self.of_now)

    @property
    def changed(self) -> bool:
        """Whether chance alone hardly explains the change."""
        return abs(self.deviations) > SURE

    @property
    def gone(self) -> bool:
        """Whether it was there, is not seen now, and chance alone hardly explains that."""
        return bool(self.before) and not self.now and exp(-self.share_before * self.of_now) < LUCK


@dataclass(frozen=True)
class Since:
    """The differences between two campaigns."""

    before: Night
    fresh: frozenset[str]
    """The findings, by the keys of ``Tally.shown``, that the campaign before did not have."""
    gone: tuple[Shown, ...]
    """The findings of the campaign before that this one does not have."""
    entered: frozenset[str]
    """Known bugs that this campaign saw and the one before did not."""
    rates: tuple[Rate, ...]
    """Of all known bugs that one of them has counted, the largest change first."""
    same_programs: bool
    """Whether both drew the same programs: then what is gone is gone."""


def since(now: Night, before: Night) -> Since:
    """Compare two campaigns."""
    ours, theirs = _names(now.tally), _names(before.tally)
    names = {*now.tally.known, *before.tally.known}
    rates = [
        Rate(
            name,
            before.tally.occurrences[name],
            before.tally.sampled,
            now.tally.occurrences[name],
            now.tally.sampled,
        )
        for name in names
    ]
    return Since(
        before=before,
        fresh=frozenset(key for key, aliases in ours.items() if not _any(aliases, theirs)),
        gone=tuple(before.tally.shown[key] for key, aliases in theirs.items() if not _any(aliases, ours)),
        entered=frozenset(now.tally.known.keys() - before.tally.known.keys()),
        rates=tuple(sorted(rates, key=lambda rate: (-abs(rate.deviations), rate.name))),
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

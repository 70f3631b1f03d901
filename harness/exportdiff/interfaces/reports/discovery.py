"""Estimates of how much is still to be found, from how often each difference was found, as in ecology.

A program is a sampling unit, and each difference that it shows is a species. A program may show several, so
these are the estimators for incidences, of the Bernoulli product model in

- M. Böhme, STADS: Software Testing as Species Discovery, ACM TOSEM 27(2), 2018, which brings them to fuzzing;
- R. K. Colwell et al., Models and estimators linking individual-based and sample-based rarefaction,
  extrapolation and comparison of assemblages, Journal of Plant Ecology 5(1), 2012, with the formulas.

The estimates hold for the settings of the campaign. They do not count what its programs cannot show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Discovery:
    """What the programs have shown so far. A species is any text."""

    programs: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """How many programs show each species."""
    firsts: list[tuple[int, str]] = field(default_factory=list)
    """The number of programs until each species was discovered, and the species, in that order."""

    def add(self, species: Iterable[str]) -> None:
        """Add what one program shows."""
        self.programs += 1
        for each in set(species):
            if not self.seen[each]:
                self.firsts.append((self.programs, each))
            self.seen[each] += 1

    @property
    def found(self) -> int:
        """How many species were found."""
        return len(self.seen)

    def seen_in(self, programs: int) -> int:
        """Return how many species exactly this number of programs shows."""
        return sum(times == programs for times in self.seen.values())

    @property
    def undetected(self) -> float:
        """The estimated number of species that no program has shown: Chao2, in its unbiased form.

        It is a lower bound (Chao 1987). With T programs, Q1 species in one program and Q2 species in two, it
        is (T - 1) / T * Q1 * (Q1 - 1) / (2 * (Q2 + 1)).
        """
        if not self.programs:
            return 0.0
        once, twice = self.seen_in(1), self.seen_in(2)
        return (self.programs - 1) / self.programs * once * (once - 1) / (2 * (twice + 1))

    @property
    def rate(self) -> float:
        """The estimated number of species that the next program discovers: Q1 / T, by Good and Turing."""
        return self.seen_in(1) / self.programs if self.programs else 0.0

    def expected(self, further: int) -> float:
        """Return the expected number of species after ``further`` more programs.

        Colwell et al., equation 18: S + Q0 * (1 - (1 - Q1 / (Q1 + T * Q0)) ** further).
        """
        once, left = self.seen_in(1), self.undetected
        if not once or not left:
            return float(self.found)
        return self.found + left * (1 - (1 - once / (once + self.programs * left)) ** further)

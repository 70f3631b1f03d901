"""Which fingerprints a campaign has seen, and which program shows each of them best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from exportdiff.judging.checks.importance import harmlessness
from exportdiff.known.attribution.classification import NEW, Classification, ClassificationKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.finding import Finding

MAX_ATTEMPTS = 3
"""After this many programs that a fresh process did not confirm, a campaign gives up on a fingerprint."""
REMEMBERED = 3
"""The number of small programs to remember: if the smallest is not confirmed, the next may be."""


@dataclass(frozen=True)
class Witness:
    """A program that shows a finding."""

    finding: Finding
    example: int
    source: str
    classification: Classification = NEW
    """Whether it is new, masked or a regression."""

    @property
    def size(self) -> tuple[bool, int, int, int]:
        """Sorts programs, the best one to read first: on plain torch, few lines, few characters, early."""
        return (bool(self.classification.fixes), self.source.count("\n"), len(self.source), self.example)


@dataclass
class FindingPrograms:
    """The programs that show one fingerprint."""

    programs: int = 0
    """How many programs show it."""
    attempts: int = 0
    shown: Witness | None = None
    """The confirmed program that represents the fingerprint."""
    smallest: list[Witness] = field(default_factory=list)

    def add(self, witness: Witness) -> None:
        """Remember a program if it is among the smallest."""
        self.programs += 1
        self.smallest = sorted([*self.smallest, witness], key=lambda w: w.size)[:REMEMBERED]

    @property
    def wants_confirming(self) -> bool:
        """Whether the next program should be run in a fresh process."""
        return self.shown is None and self.attempts < MAX_ATTEMPTS

    @property
    def better(self) -> list[Witness]:
        """Programs smaller than the one that is shown, the smallest first."""
        shown = self.shown
        return [w for w in self.smallest if shown is not None and w.size < shown.size]


def by_importance(causes: Iterable[FindingPrograms]) -> list[Witness]:
    """Return the programs that represent fingerprints: new before masked, the most harmful first.

    If several fingerprints have the same signature, on different paths, all but the first come last.
    """
    shown = [(cause.programs, cause.shown) for cause in causes if cause.shown is not None]
    kinds = get_args(ClassificationKind)
    shown.sort(
        key=lambda pair: (
            kinds.index(pair[1].classification.kind),
            harmlessness(pair[1].finding),
            -pair[0],
            pair[1].example,
            pair[1].finding.fingerprint,
        )
    )
    firsts = {witness.finding.signature: witness for _, witness in reversed(shown)}
    others = [witness for _, witness in shown if firsts[witness.finding.signature] is not witness]
    return [witness for _, witness in shown if firsts[witness.finding.signature] is witness] + others

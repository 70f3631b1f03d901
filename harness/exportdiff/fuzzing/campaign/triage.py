"""Which causes a campaign has seen, and which program shows each of them best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from exportdiff.judging.checks.importance import harmlessness
from exportdiff.known.attribution.classification import NEW, Classification, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.finding import Finding

MAX_ATTEMPTS = 3
"""A campaign gives up on a fingerprint after so many programs that a fresh process did not confirm."""
REMEMBERED = 3
"""How many small programs a cause remembers: if the smallest does not confirm, the next may."""


@dataclass(frozen=True)
class Witness:
    """A program that shows a finding."""

    finding: Finding
    example: int
    source: str
    classification: Classification = NEW
    """Whether plain torch shows it, or only torch with some fixes."""

    @property
    def size(self) -> tuple[bool, int, int, int]:
        """Smaller is easier to read: on plain torch, fewer lines, fewer characters, the earlier example."""
        return (bool(self.classification.fixes), self.source.count("\n"), len(self.source), self.example)


@dataclass
class FindingPrograms:
    """One fingerprint."""

    programs: int = 0
    """How many programs show it."""
    attempts: int = 0
    shown: Witness | None = None
    """The confirmed program that stands for the cause."""
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
    """Return the programs that stand for causes: new before masked, the most harmful first.

    Where several causes have one signature, on several paths, all but one of them come last.
    """
    shown = [(cause.programs, cause.shown) for cause in causes if cause.shown is not None]
    kinds = get_args(Kind)
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

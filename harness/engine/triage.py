"""Which causes a campaign has seen, and which program shows each of them best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.findings import Finding

MAX_ATTEMPTS = 3
"""So many programs of one fingerprint may fail to confirm before it is given up."""
KEPT = 3
"""Small programs that a cause remembers: the smallest may not confirm, its neighbour may."""


@dataclass(frozen=True)
class Witness:
    """A program that shows a finding."""

    finding: Finding
    example: int
    source: str

    @property
    def size(self) -> tuple[int, int, int]:
        """Smaller is better to read: fewer lines, then fewer characters, then the earlier example."""
        return (self.source.count("\n"), len(self.source), self.example)


@dataclass
class Cause:
    """One fingerprint."""

    attempts: int = 0
    shown: Witness | None = None
    """The confirmed witness that stands for the cause."""
    smallest: list[Witness] = field(default_factory=list)

    def add(self, witness: Witness) -> None:
        """Remember a witness if it is among the smallest."""
        self.smallest = sorted([*self.smallest, witness], key=lambda w: w.size)[:KEPT]

    @property
    def wants_confirming(self) -> bool:
        """Whether the next witness should be run in a fresh process."""
        return self.shown is None and self.attempts < MAX_ATTEMPTS

    @property
    def better(self) -> list[Witness]:
        """Witnesses smaller than the one that is shown, smallest first."""
        shown = self.shown
        return [w for w in self.smallest if shown is not None and w.size < shown.size]

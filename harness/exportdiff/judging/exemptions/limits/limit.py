"""What a documented limit is, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.observation import ExportedObservation

if TYPE_CHECKING:
    from exportdiff.core.finding import Evidence
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.observation import EagerObservation, Observation


@dataclass(frozen=True)
class Comparison:
    """A difference, and the two observations that show it."""

    evidence: Evidence
    eager: EagerObservation
    seen: Observation
    """The observation of the path."""

    @property
    def path(self) -> Path:
        """The path that shows it."""
        return self.seen.path

    @property
    def written(self) -> frozenset[str]:
        """Names of the inputs and of the state for which the graph returns new values, to be written back."""
        return self.seen.written if isinstance(self.seen, ExportedObservation) else frozenset()

    @property
    def returned(self) -> frozenset[str]:
        """Names of those whose new value is also a result of the model."""
        return self.seen.returned if isinstance(self.seen, ExportedObservation) else frozenset()

    @property
    def for_inference(self) -> bool:
        """Whether the path runs a program that is for inference alone."""
        return isinstance(self.seen, ExportedObservation) and self.seen.for_inference

    @property
    def in_unpromised_probe(self) -> bool:
        """Whether a probe shows it whose sizes export may refuse."""
        probes = {number for number, call in enumerate(self.seen.calls) if call.probe}
        probes |= {each.number for each in self.seen.small_calls}
        narrows = isinstance(self.seen, ExportedObservation) and self.seen.may_narrow
        return narrows and self.evidence.call in probes


Covers = Callable[[Comparison], bool]


@dataclass(frozen=True)
class Limit:
    """One documented difference between torch.export, or torch.compile, and eager."""

    name: str
    says: str
    """What torch does not do, in one sentence."""
    documented: str
    """The page, thread or comment in torch that says so."""
    covers: Covers
    everywhere: bool = False
    """Whether it also covers differences of torch.compile, which exports nothing."""


def limit(
    table: list[Limit], *, says: str, documented: str, everywhere: bool = False
) -> Callable[[Covers], Covers]:
    """Add the decorated function to a table; the name of the limit is that of the function."""

    def enter(covers: Covers) -> Covers:
        table.append(Limit(covers.__name__.replace("_", "-"), says, documented, covers, everywhere))
        return covers

    return enter


PROGRAMMING_MODEL = "docs.pytorch.org, torch.export Programming Model"
UNFLATTEN = "torch/export/unflatten.py"
INFERENCE = "docs.pytorch.org, torch.export, 'Export IR: Training vs Inference'"

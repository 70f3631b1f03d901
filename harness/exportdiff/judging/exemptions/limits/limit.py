"""What a documented limit is, and the compared that it answers."""

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
    """Is this difference documented? With everything that an answer may depend on."""

    evidence: Evidence
    eager: EagerObservation
    seen: Observation
    """What the path did."""

    @property
    def path(self) -> Path:
        """The path that shows it."""
        return self.seen.path

    @property
    def dropped(self) -> frozenset[str]:
        """Names of the model's state that are not among the graph's inputs."""
        return self.seen.dropped if isinstance(self.seen, ExportedObservation) else frozenset()

    @property
    def written(self) -> frozenset[str]:
        """Names of the inputs and of the state that the graph returns anew, to be written back."""
        return self.seen.written if isinstance(self.seen, ExportedObservation) else frozenset()

    @property
    def in_unpromised_probe(self) -> bool:
        """Whether a probe shows it, with sizes that export may refuse."""
        probes = {number for number, call in enumerate(self.seen.calls) if call.probe}
        probes |= {each.number for each in self.seen.small_calls}
        narrows = isinstance(self.seen, ExportedObservation) and self.seen.may_narrow
        return narrows and self.evidence.call in probes


Covers = Callable[[Comparison], bool]


@dataclass(frozen=True)
class Limit:
    """One way in which torch.export says that it does not do as eager does."""

    name: str
    says: str
    """What is given up, in a line."""
    documented: str
    """The page, thread or comment in torch that says so."""
    covers: Covers
    everywhere: bool = False
    """Whether it also holds for torch.compile, which exports nothing."""


def limit(
    table: list[Limit], *, says: str, documented: str, everywhere: bool = False
) -> Callable[[Covers], Covers]:
    """Enter the decorated function into a table; the name of the limit is that of the function."""

    def enter(covers: Covers) -> Covers:
        table.append(Limit(covers.__name__.replace("_", "-"), says, documented, covers, everywhere))
        return covers

    return enter


PROGRAMMING_MODEL = "docs.pytorch.org, torch.export Programming Model"
UNFLATTEN = "torch/export/unflatten.py"
INFERENCE = "docs.pytorch.org, torch.export, 'Export IR: Training vs Inference'"

"""memory: the weights are freed when the model, the program and what runs are gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.groups import listed
from exportdiff.judging.checks.evidence import WithoutCall
from exportdiff.runtime.observing.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.runtime.observing.observation import Observation


@dataclass(frozen=True)
class WeightsKept(WithoutCall):
    """Parameters or buffers of the model stay in memory."""

    names: tuple[str, ...]

    stage = "run"

    def words(self) -> tuple[str, ...]:
        return ("kept",)

    def lines(self) -> Iterator[str]:
        yield "the model, the program and what runs are gone, and weights are still in memory"
        yield f"kept: {listed(self.names)}"


def memory(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Look for weights that eager frees, and the path does not."""
    if isinstance(candidate, ExportedObservation) and candidate.kept:
        yield WeightsKept(candidate.kept)

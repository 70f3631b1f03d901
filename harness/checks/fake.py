"""fake: what a graph says of the tensors that it computes is what they are when it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.metadata import unlike_recorded
from harness.checks.registry import Difference, mismatch
from harness.observe.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Observation


def fake(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare dtype, shape, stride and offset of every node with the fake tensor's."""
    if not isinstance(candidate, ExportedObservation):
        return
    for each in candidate.predictions:
        if (unlike := unlike_recorded(each.actual, each.predicted)) is not None:
            word, actual, predicted = unlike
            # What is read from a file begins at 0, whatever computes it: one cause.
            cause = "reload" if word == "offset" and "reload" in candidate.path.transforms else each.operator
            found = mismatch(
                (word, cause),
                f"node {each.node} ({each.operator}) has another {word} than its fake tensor predicted",
                f"it is {actual}; predicted: {predicted}",
                stage="export",
            )
            # Where a value differs as well, that is what a reader wants to see.
            yield replace(found, follows=True)
            # What is computed from it is predicted wrongly as well.
            return

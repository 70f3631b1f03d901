"""guards: what was exported accepts the inputs it was exported with, and describes them truly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.crash import shortened
from harness.checks.compare.metadata import unlike_recorded
from harness.checks.compare.refusals import misfit
from harness.checks.guards.deviations import deviations
from harness.checks.guards.recompiles import recompiles
from harness.checks.registry import Difference, mismatch
from harness.observe.observation import ExportedObservation
from harness.observe.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Observation, Placeholder


def guards(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare recorded input metadata with the inputs' own, and look for refused calls."""
    explained = False
    for placeholder in candidate.placeholders if isinstance(candidate, ExportedObservation) else ():
        if (unlike := _unlike(placeholder)) is not None:
            word, actual, recorded = unlike
            kind, where = placeholder.kind, placeholder.where
            explained |= kind == "input" and word in ("shape", "value")
            yield mismatch(
                ("recorded", word, kind),
                f"the graph records another {word} than that of {kind} "
                f"{argument(where) if kind == 'input' else where}",
                f"handed in: {actual}; recorded: {recorded}",
                stage="export",
            )
    for number, call in enumerate(candidate.calls):
        # A guard made from a wrong record has to refuse: that is no second finding.
        if explained or call.failure is None or _raised(reference, number):
            continue
        if (what := misfit(call.failure, probe=call.probe)) is not None:
            yield Difference(
                "crash",
                "run",
                ("refused", what),
                f"call {number}: refused inputs {PROMISED[call.probe]}\n"
                f"{call.failure.name}: {shortened(call.failure.message)}",
                number,
            )
    yield from recompiles(reference, candidate)
    for difference in deviations(reference, candidate):
        yield replace(difference, follows=True)


def _raised(reference: Observation, call: int) -> bool:
    return call < len(reference.calls) and reference.calls[call].failure is not None


PROMISED = (
    "with the metadata of those it was exported with",
    "with sizes that its dynamic_shapes allow",
)
"""What is wrong with a refusal: of a call like the example, and of a probe."""


def _unlike(placeholder: Placeholder) -> tuple[str, object, object] | None:
    recorded, actual = placeholder.recorded, placeholder.actual
    if isinstance(recorded, str) or isinstance(actual, str):
        return None if recorded == actual else ("value", actual, recorded)
    return unlike_recorded(actual, recorded)

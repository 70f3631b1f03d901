"""guards: what was exported accepts the inputs it was exported with, and describes them truly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.checks.compare import meaningful_stride
from harness.checks.crash import shortened
from harness.checks.inputs import argument
from harness.checks.registry import Difference, mismatch
from harness.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Failure, Observation, Placeholder

# The ways in which torch says that a call does not fit what was exported, and what of it does not
# (torch/export/_unlift.py, torch/_export/utils.py, torch/export/unflatten.py).
_REFUSALS = {
    "size": re.compile(
        r"Guard failed: .*\.size\(\)|Expected input (at )?(\*args|\w+)\S*\.shape\S* (to be|= )"
        r"|Unexpected number of dimensions in input"
    ),
    "value": re.compile(r"Guard failed: |Expected input (at )?(\*args|\w+)\S* (to be|= )"),
    "structure": re.compile(
        r"Unexpected number of inputs|Trying to flatten user inputs with exported input tree spec"
        r"|There is no flat args adapter specified"
    ),
}


def _refused(failure: Failure) -> str | None:
    if failure.stage != "run":
        return None
    return next((word for word, rule in _REFUSALS.items() if rule.match(failure.message)), None)


def is_guard_failure(failure: Failure) -> bool:
    """Whether a call was turned away at the door, rather than failed on the way."""
    return _refused(failure) is not None


def guards(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare recorded input metadata with the inputs' own, and look for refused calls."""
    explained = False
    for placeholder in candidate.placeholders:
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
        if not explained and call.failure and (misfit := _refused(call.failure)) is not None:
            yield Difference(
                "crash",
                "run",
                ("refused", misfit),
                f"call {number}: refused inputs with the metadata of those it was exported with\n"
                f"{call.failure.name}: {shortened(call.failure.message)}",
                number,
            )


def _unlike(placeholder: Placeholder) -> tuple[str, object, object] | None:
    recorded, actual = placeholder.recorded, placeholder.actual
    if isinstance(recorded, str) or isinstance(actual, str):
        return None if recorded == actual else ("value", actual, recorded)
    for word, real, noted in (
        ("dtype", actual.dtype, recorded.dtype),
        ("shape", list(actual.shape), list(recorded.shape)),
        ("stride", list(meaningful_stride(actual)), list(meaningful_stride(recorded))),
        ("offset", actual.offset, recorded.offset),
    ):
        if real != noted:
            return word, _all(actual, word), _all(recorded, word)
    return None


def _all(tensor: TensorSnapshot, word: str) -> object:
    value = getattr(tensor, word)
    return list(value) if isinstance(value, tuple) else value

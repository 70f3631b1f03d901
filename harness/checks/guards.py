"""guards: what was exported accepts the inputs it was exported with, and describes them truly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.checks.compare import meaningful_stride
from harness.checks.crash import message_words, shortened
from harness.checks.inputs import argument
from harness.checks.registry import Difference, mismatch
from harness.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Failure, Observation, Placeholder

# The ways in which torch says that a call does not fit what was exported (torch/export/_unlift.py,
# torch/_export/utils.py, torch/export/unflatten.py).
_REFUSALS = re.compile(
    r"Guard failed: "
    r"|Expected input (at )?(\*args|\w+)\S* (to be|= )"
    r"|Unexpected number of (inputs|dimensions in input)"
    r"|Trying to flatten user inputs with exported input tree spec"
    r"|There is no flat args adapter specified"
)


def is_guard_failure(failure: Failure) -> bool:
    """Whether a call was turned away at the door, rather than failed on the way."""
    return failure.stage == "run" and _REFUSALS.match(failure.message) is not None


def guards(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Look for refused calls, and compare recorded input metadata with the inputs' own."""
    for number, call in enumerate(candidate.calls):
        if number < len(reference.calls) and call.failure and is_guard_failure(call.failure):
            yield Difference(
                "crash",
                "run",
                ("refused", call.failure.name, message_words(call.failure.message)),
                f"call {number}: refused inputs with the metadata of those it was exported with\n"
                f"{call.failure.name}: {shortened(call.failure.message)}",
                number,
            )
    for placeholder in candidate.placeholders:
        if (unlike := _unlike(placeholder)) is not None:
            where = placeholder.where
            word, actual, recorded = unlike
            yield mismatch(
                ("recorded", word, placeholder.kind),
                f"the graph records another {word} than that of {placeholder.kind} "
                f"{argument(where) if placeholder.kind == 'input' else where}",
                f"handed in: {actual}; recorded: {recorded}",
                stage="export",
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

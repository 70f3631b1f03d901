"""guards: what was exported accepts the inputs it was exported with, and describes them truly."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare import meaningful_stride
from harness.checks.crash import shortened
from harness.checks.inputs import argument
from harness.checks.registry import Difference, mismatch
from harness.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Call, Failure, Observation, Placeholder
    from harness.snapshot import Size

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


# What export could not decide for all sizes, it asserts in the graph (torch/fx/passes/runtime_assert.py).
_ASSERTION = re.compile(r"Runtime assertion failed for expression ")

PROMISED = (
    "with the metadata of those it was exported with",
    "with sizes that its dynamic_shapes allow",
)
"""What is wrong with a refusal: of a call like the example, and of a probe."""


def _refused(failure: Failure, *, probe: bool) -> str | None:
    if failure.stage != "run":
        return None
    if probe and _ASSERTION.match(failure.message):
        return "assertion"
    return next((word for word, rule in _REFUSALS.items() if rule.match(failure.message)), None)


def is_guard_failure(call: Call) -> bool:
    """Whether a call was turned away at the door, rather than failed on the way."""
    return call.failure is not None and _refused(call.failure, probe=call.probe) is not None


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
        if explained or call.failure is None or (call.probe and candidate.may_narrow):
            continue
        if (misfit := _refused(call.failure, probe=call.probe)) is not None:
            yield Difference(
                "crash",
                "run",
                ("refused", misfit),
                f"call {number}: refused inputs {PROMISED[call.probe]}\n"
                f"{call.failure.name}: {shortened(call.failure.message)}",
                number,
            )


def _unlike(placeholder: Placeholder) -> tuple[str, object, object] | None:
    recorded, actual = placeholder.recorded, placeholder.actual
    if isinstance(recorded, str) or isinstance(actual, str):
        return None if recorded == actual else ("value", actual, recorded)
    if actual.dtype != recorded.dtype:
        return "dtype", actual.dtype, recorded.dtype
    for word, real, noted in (
        ("shape", actual.shape, recorded.shape),
        ("stride", meaningful_stride(actual), meaningful_stride(replace(recorded, shape=actual.shape))),
        ("offset", (actual.offset,), (recorded.offset,)),
    ):
        if not _fits(real, noted):
            return word, _all(actual, word), _all(recorded, word)
    return None


def _fits(real: tuple[Size, ...], noted: tuple[Size, ...]) -> bool:
    """Whether sizes are those recorded; a symbol stands for any."""
    return len(real) == len(noted) and all(
        isinstance(b, str) or a == b for a, b in zip(real, noted, strict=True)
    )


def _all(tensor: TensorSnapshot, word: str) -> object:
    value = getattr(tensor, word)
    return list(value) if isinstance(value, tuple) else value

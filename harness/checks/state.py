"""state: parameters and buffers start where eager's start, and every call moves them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare import SEVERITY, compare_leaf
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.findings import Stage
    from harness.observation import Observation
    from harness.snapshot import TensorSnapshot


def state(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare names, values and metadata of the state, before the first call and after each."""
    if reference.before is None or candidate.before is None:
        return
    for name, tensor in reference.before.tensors.items():
        if name not in candidate.before.tensors:
            yield mismatch(
                ("missing", sort_of(tensor)),
                f"{sort_of(tensor)} {name} ({tensor}) of eager is missing",
                stage="lower",
            )
    yield from _compare(reference.before.tensors, candidate.before.tensors, None)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None or theirs.failure is not None:
            return
        yield from _compare(ours.state, theirs.state, number)


def _compare(
    ours: Mapping[str, TensorSnapshot], theirs: Mapping[str, TensorSnapshot], call: int | None
) -> Iterator[Difference]:
    unlike = [
        (found, name, expected)
        for name, expected in ours.items()
        if name in theirs
        and (found := compare_leaf(expected, theirs[name], metadata=True)) is not None
    ]
    when = "before the first call" if call is None else f"after call {call}"
    stage: Stage = "lower" if call is None else "run"
    for found, name, expected in sorted(unlike, key=lambda each: SEVERITY.index(each[0].word)):
        at_start = ("at-start",) if call is None else ()
        yield mismatch(
            (found.word, sort_of(expected), *at_start),
            f"{when}: {sort_of(expected)} {name} differs in {found.word.replace('-', ' ')}",
            found.details,
            stage=stage,
            call=call,
        )


def sort_of(tensor: TensorSnapshot) -> str:
    """Tell a parameter from a buffer."""
    return "parameter" if tensor.type == "Parameter" else "buffer"

"""outputs: the path returns what eager returns, to the bit, and raises nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare import SEVERITY, compare_leaf
from harness.checks.crash import crash_signature, shortened
from harness.checks.guards import is_guard_failure
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observation import Failure, Observation
    from harness.snapshot import Tree


def outputs(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare exceptions, structure, values, dtypes, shapes and strides, call by call."""
    if candidate.failure is not None:
        yield _crash(candidate.failure, None)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if theirs.failure is not None:
            if not is_guard_failure(theirs):
                yield _crash(theirs.failure, number)
        elif ours.outputs is not None and theirs.outputs is not None:
            yield from _compare(ours.outputs, theirs.outputs, number)


def _crash(failure: Failure, call: int | None) -> Difference:
    where = {"export": "export", "lower": "lowering", "run": f"call {call}"}[failure.stage]
    message = f"{where} raised {failure.name}, eager did not\n{shortened(failure.message)}"
    if failure.frames:
        message += f"\nin torch at {' > '.join(failure.frames)}"
    return Difference("crash", failure.stage, crash_signature(failure), message, call)


def _compare(ours: Tree, theirs: Tree, call: int) -> Iterator[Difference]:
    if ours.structure != theirs.structure:
        yield mismatch(
            ("structure",),
            f"call {call}: the output has another structure than in eager",
            f"eager: {ours.structure}",
            f"here: {theirs.structure}",
            call=call,
        )
        return
    unlike = [
        (found, expected)
        for expected, seen in zip(ours.leaves, theirs.leaves, strict=True)
        if (found := compare_leaf(expected.value, seen.value)) is not None
    ]
    for found, leaf in sorted(unlike, key=lambda pair: SEVERITY.index(pair[0].word)):
        yield mismatch(
            (found.word, leaf.role),
            f"call {call}: output{leaf.where} differs in {found.word.replace('-', ' ')}",
            found.details,
            "" if leaf.role == "fresh" else f"in eager: {leaf.role.replace('-', ' ')}",
            call=call,
        )

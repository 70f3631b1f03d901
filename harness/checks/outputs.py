"""outputs: the path returns what eager returns, to the bit, and raises nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.aliasing import known_names, partners
from harness.checks.compare.crash import crash_signature, shortened
from harness.checks.compare.groups import listed, not_together
from harness.checks.compare.leaves import SEVERITY, compare_leaf
from harness.checks.compare.refusals import is_guard_failure
from harness.checks.registry import Difference, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.failure import Failure
    from harness.observe.observation import Observation
    from harness.observe.tensors import Tree


def outputs(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare exceptions, structure, values, metadata and identity, call by call."""
    if candidate.failure is not None:
        yield _crash(candidate.failure, None)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None:
            if theirs.failure is None:
                yield _answered(ours.failure, number)
            return
        if theirs.failure is not None:
            if not is_guard_failure(theirs):
                yield _crash(theirs.failure, number)
        elif ours.outputs is not None and theirs.outputs is not None:
            yield from _compare(ours.outputs, theirs.outputs, number)
            for each in _identities(reference, candidate, number):
                yield replace(each, weak=True)


def _crash(failure: Failure, call: int | None) -> Difference:
    where = {"export": "export", "lower": "lowering", "run": f"call {call}"}[failure.stage]
    message = f"{where} raised {failure.name}, eager did not\n{shortened(failure.message)}"
    if failure.frames:
        message += f"\nin torch at {' > '.join(failure.frames)}"
    return Difference("crash", failure.stage, crash_signature(failure), message, call)


def _answered(failure: Failure, call: int) -> Difference:
    text = f"call {call} returned, eager raised {failure.name}\n{shortened(failure.message)}"
    return mismatch(("answered", failure.name), text, call=call)


def _compare(ours: Tree, theirs: Tree, call: int) -> Iterator[Difference]:
    if ours.structure != theirs.structure:
        other = mismatch(
            ("structure",),
            f"call {call}: the output has another structure than in eager",
            f"eager: {ours.structure}",
            f"here: {theirs.structure}",
            call=call,
        )
        yield replace(other, structures=(ours.structure, theirs.structure))
        if len(ours.leaves) != len(theirs.leaves):
            return
    unlike = [
        (found, expected)
        for expected, seen in zip(ours.leaves, theirs.leaves, strict=True)
        if (found := compare_leaf(expected.value, seen.value, metadata=True)) is not None
    ]
    for found, leaf in sorted(unlike, key=lambda pair: SEVERITY.index(pair[0].word)):
        difference = mismatch(
            (found.word, leaf.role),
            f"call {call}: output{leaf.where} differs in {found.word.replace('-', ' ')}",
            found.details,
            "" if leaf.role == "fresh" else f"in eager: {leaf.role.replace('-', ' ')}",
            call=call,
        )
        yield replace(difference, of_state=leaf.role.endswith(_STATE))


_STATE = ("buffer", "param", "constant")
"""How the role of an output ends that is, or lives in, the model's state."""


def _identities(reference: Observation, candidate: Observation, call: int) -> Iterator[Difference]:
    """Compare which outputs are one object with another output, an input or a tensor of the state."""
    ours, theirs = reference.calls[call].memory, candidate.calls[call].memory
    known = known_names(reference, candidate)
    for names in not_together(ours.same, theirs.same, known):
        yield mismatch(
            ("identity", *partners(names, reference)),
            f"call {call}: {listed(names)} are one object in eager, here they are not",
            call=call,
            about=names,
        )
    for names in not_together(theirs.same, ours.same, known):
        yield mismatch(
            ("identity", *partners(names, reference), "new"),
            f"call {call}: {listed(names)} are one object here, in eager they are not",
            call=call,
            about=names,
        )

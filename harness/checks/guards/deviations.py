"""Of the guards check: a call that leaves the spec is refused, or answered as eager answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.compare.leaves import SEVERITY, Unlike, compare_leaf
from harness.checks.compare.refusals import is_guard_failure
from harness.checks.registry import Difference, mismatch
from harness.observe.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.observe.observation import Call, DeviatingCall, Observation
    from harness.observe.tensors import State


def deviations(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare each deviating call that both made; where eager raises, there is no right answer."""
    number = len(reference.calls)
    ours = {made.description: made for made in reference.deviations}
    for made in candidate.deviations:
        expected = ours.get(made.description)
        if expected is None or expected.call.failure is not None:
            continue
        if made.call.failure is None:
            yield from _silent(expected, made, number, rounds=not candidate.same_operators)
        elif is_guard_failure(made.call):
            yield from _touched(made, number)


def _silent(
    expected: DeviatingCall, made: DeviatingCall, number: int, *, rounds: bool
) -> Iterator[Difference]:
    unlike = list(_unlike(expected.call, made.call))
    if rounds:  # other operators do (harness/judge/documented_limits.py, other_operators_round)
        unlike = [each for each in unlike if each[1].word not in ("rounding", "sign-of-zero")]
    if unlike:
        where, worst = min(unlike, key=lambda pair: SEVERITY.index(pair[1].word))
        yield mismatch(
            ("accepted", made.deviation),
            f"a call in which {made.description} is not refused, and the answer is wrong",
            f"{where} differs in {worst.word.replace('-', ' ')}",
            worst.details,
            call=number,
        )


def _unlike(ours: Call, theirs: Call) -> Iterator[tuple[str, Unlike]]:
    if ours.outputs is not None and theirs.outputs is not None:
        if ours.outputs.structure != theirs.outputs.structure:
            structures = f"eager: {ours.outputs.structure}; here: {theirs.outputs.structure}"
            yield "output", Unlike("kind", structures)
            return
        for expected, seen in zip(ours.outputs.leaves, theirs.outputs.leaves, strict=True):
            if (found := compare_leaf(expected.value, seen.value)) is not None:
                yield f"output{expected.where}", found
    for expected, seen in zip(ours.inputs.leaves, theirs.inputs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value)) is not None:
            yield f"input {argument(expected.where)}", found
    yield from _unlike_state(ours.state, theirs.state)


def _unlike_state(ours: State, theirs: State) -> Iterator[tuple[str, Unlike]]:
    for name in ours.tensors.keys() & theirs.tensors.keys():
        if (found := compare_leaf(ours.tensors[name], theirs.tensors[name])) is not None:
            yield name, found


def _touched(made: DeviatingCall, number: int) -> Iterator[Difference]:
    """Look for what a refused call has changed nevertheless."""
    before = zip(made.inputs_before.leaves, made.call.inputs.leaves, strict=True)
    changed = [argument(leaf.where) for leaf, later in before if compare_leaf(leaf.value, later.value)]
    changed += [name for name, _ in _unlike_state(made.state_before, made.call.state)]
    if changed:
        yield mismatch(
            ("refused-but-changed", made.deviation),
            f"a call in which {made.description} is refused, but has changed {changed[0]}",
            call=number,
        )

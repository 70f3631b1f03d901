"""Part of the guards check: a deviating call is refused, or answered as eager answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks.compare.deviating import Altered
from harness.checks.compare.leaves import SEVERITY, LeafDifference, compare_leaf
from harness.checks.compare.refusals import is_guard_failure
from harness.checks.evidence import InCall
from harness.observe.aliasing import INPUT, OUTPUT
from harness.observe.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.findings import Evidence
    from harness.observe.observation import Call, DeviatingCall, Observation
    from harness.observe.tensors import State


@dataclass(frozen=True)
class WrongAnswer(InCall):
    """A deviating call is not refused, and its answer is wrong."""

    call: int
    altered: Altered
    where: str
    """What differs: ``output[0]``, ``input args[0]``, or the name of a tensor of the state."""
    leaf: LeafDifference
    as_example: bool = False
    """Whether it is the answer that eager gives to an ordinary call."""

    @property
    def is_input(self) -> bool:
        """Whether an argument differs after the call."""
        return self.where.startswith(INPUT)

    @property
    def in_deviating_call(self) -> bool:
        """It is always one."""
        return True

    def words(self) -> tuple[str, ...]:
        """Return the name of the deviation."""
        return ("accepted", self.altered.deviation)

    def lines(self) -> Iterator[str]:
        """Show what differs."""
        yield f"a call in which {self.altered.description} is not refused, and the answer is wrong"
        yield f"{self.where} differs in {self.leaf.aspect}"
        yield self.leaf.details()


@dataclass(frozen=True)
class RefusedButChanged(InCall):
    """A deviating call is refused, but has changed something."""

    call: int
    altered: Altered
    name: str
    """What has changed: an argument, or a tensor of the state."""

    @property
    def in_deviating_call(self) -> bool:
        """It is always one."""
        return True

    def words(self) -> tuple[str, ...]:
        """Return the name of the deviation."""
        return ("refused-but-changed", self.altered.deviation)

    def lines(self) -> Iterator[str]:
        """Say what has changed."""
        yield f"a call in which {self.altered.description} is refused, but has changed {self.name}"


@dataclass(frozen=True)
class BrokenByRefusal(InCall):
    """An ordinary call is wrong because it follows a deviating call that raised."""

    call: int
    altered: Altered
    where: str
    """What differs: ``output[0]``, ``input args[0]``, or a tensor of the state; empty if it raises."""
    leaf: LeafDifference

    @property
    def in_deviating_call(self) -> bool:
        """It takes one to show it."""
        return True

    def words(self) -> tuple[str, ...]:
        """Return what differs, and the name of the deviation."""
        return ("after-refusal", self.leaf.word, self.altered.deviation)

    def lines(self) -> Iterator[str]:
        """Show what differs."""
        yield f"an ordinary call after a call in which {self.altered.description}, which raises, is wrong"
        yield f"{self.where} differs in {self.leaf.aspect}" if self.where else "it raises"
        yield self.leaf.details()


def deviations(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare each deviating call that both made; where eager raises, there is no right answer.

    But an ordinary call after one that raised has a right answer, if that one changed nothing.
    """
    number = len(reference.calls)
    ours = {made.description: made for made in reference.deviations}
    rounds = not candidate.same_operators
    for made in candidate.deviations:
        expected = ours.get(made.description)
        if expected is None:
            continue
        yield from _afterwards(expected, made, number, rounds=rounds)
        if expected.call.failure is not None:
            continue
        if made.call.failure is None:
            yield from _answered(expected, made, number, rounds=rounds)
        elif is_guard_failure(made.call):
            yield from _changed(made, number)


def _answered(
    expected: DeviatingCall, made: DeviatingCall, number: int, *, rounds: bool
) -> Iterator[Evidence]:
    unlike = list(_unlike(expected.call, made.call))
    if rounds:  # other operators do (the documented limit other-operators-round)
        unlike = [each for each in unlike if each[1].word not in ("rounding", "sign-of-zero")]
    if unlike:
        where, worst = min(unlike, key=lambda pair: SEVERITY.index(pair[1].word))
        yield WrongAnswer(number, Altered.of(made), where, worst, _is_ordinary(expected, made))


def _is_ordinary(expected: DeviatingCall, made: DeviatingCall) -> bool:
    """Ask whether outputs and state are those of eager's ordinary call in the place of the deviating one."""
    ordinary = expected.then
    if ordinary is None or ordinary.outputs is None:
        return False
    return not any(not where.startswith(INPUT) for where, _ in _unlike(ordinary, made.call))


def _afterwards(
    expected: DeviatingCall, made: DeviatingCall, number: int, *, rounds: bool
) -> Iterator[Evidence]:
    """Compare the ordinary calls after a deviating call that raised here, and changed nothing anywhere."""
    ours, theirs = expected.then, made.then
    if ours is None or theirs is None or made.call.failure is None or ours.failure is not None:
        return
    for each in (made, expected) if expected.call.failure is not None else (made,):
        if any(_unlike_state(each.state_before, each.call.state)):
            return
    if theirs.failure is not None:
        raised = f"{theirs.failure.name}: {theirs.failure.message.strip().partition(chr(10))[0]}"
        yield BrokenByRefusal(number, Altered.of(made), "", LeafDifference("kind", "returns", raised))
        return
    unlike = list(_unlike(ours, theirs))
    if rounds:
        unlike = [each for each in unlike if each[1].word not in ("rounding", "sign-of-zero")]
    if unlike:
        where, worst = min(unlike, key=lambda pair: SEVERITY.index(pair[1].word))
        yield BrokenByRefusal(number, Altered.of(made), where, worst)


def _unlike(ours: Call, theirs: Call) -> Iterator[tuple[str, LeafDifference]]:
    if ours.outputs is not None and theirs.outputs is not None:
        if ours.outputs.structure != theirs.outputs.structure:
            yield "output", LeafDifference("kind", ours.outputs.structure, theirs.outputs.structure)
            return
        for expected, seen in zip(ours.outputs.leaves, theirs.outputs.leaves, strict=True):
            if (found := compare_leaf(expected.value, seen.value)) is not None:
                yield f"{OUTPUT}{expected.where}", found
    for expected, seen in zip(ours.inputs.leaves, theirs.inputs.leaves, strict=False):
        if (found := compare_leaf(expected.value, seen.value)) is not None:
            yield f"{INPUT}{argument(expected.where)}", found
    yield from _unlike_state(ours.state, theirs.state)


def _unlike_state(ours: State, theirs: State) -> Iterator[tuple[str, LeafDifference]]:
    for name in ours.tensors.keys() & theirs.tensors.keys():
        if (found := compare_leaf(ours.tensors[name], theirs.tensors[name])) is not None:
            yield name, found


def _changed(made: DeviatingCall, number: int) -> Iterator[Evidence]:
    """Look for what a refused call has changed nevertheless."""
    before = zip(made.inputs_before.leaves, made.call.inputs.leaves, strict=True)
    changed = [argument(leaf.where) for leaf, later in before if compare_leaf(leaf.value, later.value)]
    changed += [name for name, _ in _unlike_state(made.state_before, made.call.state)]
    if changed:
        yield RefusedButChanged(number, Altered.of(made), changed[0])

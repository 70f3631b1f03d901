"""Part of the guards check: a deviating call is refused, or answered as eager answers it.

One must not be refused: a call with its keyword arguments in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.compare.crash import shortened
from exportdiff.judging.checks.compare.deviating import Altered
from exportdiff.judging.checks.compare.guard_failures import is_guard_failure
from exportdiff.judging.checks.compare.leaves import SEVERITY, LeafDifference, compare_leaf
from exportdiff.judging.checks.compare.ordinary import STRUCTURE, beyond_ordinary, unlike_calls, unlike_states
from exportdiff.judging.checks.evidence import InCall
from exportdiff.runtime.observing.aliasing import INPUT
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from exportdiff.core.finding import Evidence
    from exportdiff.judging.checks.compare.ordinary import Unlike
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import DeviatingCall, Observation

    Beyond = Callable[[Iterable[Unlike]], list[Unlike]]

KEYWORDS = ("order", "kwargs")
"""The deviating call that every exported program must accept, and what it alters.

reorder_kwargs in torch/export/_tree_utils.py: 'users can pass in foo(a=a, b=b) OR foo(b=b, a=a) and receive
the same result'.
"""


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

    in_deviating_call = True

    def words(self) -> tuple[str, ...]:
        return ("accepted", self.altered.deviation)

    def lines(self) -> Iterator[str]:
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

    in_deviating_call = True

    def words(self) -> tuple[str, ...]:
        return ("refused-but-changed", self.altered.deviation)

    def lines(self) -> Iterator[str]:
        yield f"a call in which {self.altered.description} is refused, but has changed {self.name}"


@dataclass(frozen=True)
class BrokenByRefusal(InCall):
    """An ordinary call is wrong because it follows a deviating call that raised."""

    call: int
    altered: Altered
    where: str
    """What differs: ``output[0]``, ``input args[0]``, or a tensor of the state; empty if it raises."""
    leaf: LeafDifference

    in_deviating_call = True

    def words(self) -> tuple[str, ...]:
        return ("after-refusal", self.leaf.word, self.altered.deviation)

    def lines(self) -> Iterator[str]:
        yield f"an ordinary call after a call in which {self.altered.description}, which raises, is wrong"
        yield f"{self.where} differs in {self.leaf.aspect}" if self.where else "it raises"
        yield self.leaf.details()


@dataclass(frozen=True)
class KeywordsRefused(InCall):
    """A call with its keyword arguments in another order is refused: in Python it is the same call."""

    call: int
    altered: Altered
    failure: Failure

    kind = "crash"
    in_deviating_call = True

    def words(self) -> tuple[str, ...]:
        return ("refused", "keyword-order")

    def lines(self) -> Iterator[str]:
        yield f"a call in which {self.altered.description} raises an error"
        yield f"{self.failure.name}: {shortened(self.failure.message)}"


def deviations(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare each deviating call that both made. If eager raises, there is no right answer.

    An ordinary call after a call that raised has a right answer, if that call changed nothing.
    """
    number = len(reference.calls)

    def beyond(unlike: Iterable[Unlike]) -> list[Unlike]:
        # The ordinary calls report what they show too, unless it is a documented limit.
        if rounds:  # other operators do (the documented limit other-operators-round)
            unlike = (each for each in unlike if each[1].word not in ("rounding", "sign-of-zero"))
        return beyond_ordinary(unlike, reference, candidate)

    ours = {made.key: made for made in reference.deviations}
    rounds = not candidate.same_operators
    exported = isinstance(candidate, ExportedObservation)
    for made in candidate.deviations:
        expected = ours.get(made.key)
        if expected is None:
            continue
        yield from _afterwards(expected, made, number, beyond)
        if expected.call.failure is not None:
            continue
        if made.call.failure is None:
            yield from _answered(expected, made, number, beyond)
        elif exported and (made.deviation, made.where) == KEYWORDS:
            yield KeywordsRefused(number, Altered.of(made), made.call.failure)
        elif is_guard_failure(made.call):
            yield from _changed(made, number)


def _answered(
    expected: DeviatingCall, made: DeviatingCall, number: int, beyond: Beyond
) -> Iterator[Evidence]:
    for where, difference in _worst(beyond(unlike_calls(expected.call, made.call))):
        yield WrongAnswer(number, Altered.of(made), where, difference, _is_ordinary(expected, made))


def _worst(unlike: list[Unlike]) -> Iterator[Unlike]:
    """Yield the difference of structure, which may be a documented limit, and the worst of the others."""
    yield from (each for each in unlike if each[0] == STRUCTURE)
    others = [each for each in unlike if each[0] != STRUCTURE]
    yield from sorted(others, key=lambda each: SEVERITY.index(each[1].word))[:1]


def _is_ordinary(expected: DeviatingCall, made: DeviatingCall) -> bool:
    """Whether outputs and state are those of eager's ordinary call, made instead of the deviating one."""
    ordinary = expected.then
    if ordinary is None or ordinary.outputs is None:
        return False
    return not any(not where.startswith(INPUT) for where, _ in unlike_calls(ordinary, made.call))


def _afterwards(
    expected: DeviatingCall, made: DeviatingCall, number: int, beyond: Beyond
) -> Iterator[Evidence]:
    """Compare the ordinary calls after a deviating call that raised on the path and changed nothing."""
    ours, theirs = expected.then, made.then
    if ours is None or theirs is None or made.call.failure is None or ours.failure is not None:
        return
    for each in (made, expected) if expected.call.failure is not None else (made,):
        if any(unlike_states(each.state_before, each.call.state)):
            return
    if theirs.failure is not None:
        raised = f"{theirs.failure.name}: {theirs.failure.message.strip().partition(chr(10))[0]}"
        yield BrokenByRefusal(number, Altered.of(made), "", LeafDifference("kind", "returns", raised))
        return
    for where, difference in _worst(beyond(unlike_calls(ours, theirs))):
        yield BrokenByRefusal(number, Altered.of(made), where, difference)


def _changed(made: DeviatingCall, number: int) -> Iterator[Evidence]:
    """Look for what a refused call has changed nevertheless."""
    before = zip(made.inputs_before.leaves, made.call.inputs.leaves, strict=True)
    changed = [argument(leaf.where) for leaf, later in before if compare_leaf(leaf.value, later.value)]
    changed += [name for name, _ in unlike_states(made.state_before, made.call.state)]
    if changed:
        yield RefusedButChanged(number, Altered.of(made), changed[0])

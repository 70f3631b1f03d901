"""purity: export and lowering leave the model, the example inputs and torch's own state alone.

Calling what was lowered leaves the exported program alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exportdiff.core.difference import MEASURED
from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.comparable_calls import comparable
from exportdiff.judging.checks.compare.deviating import Altered
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.compare.mappings import unequal
from exportdiff.judging.checks.evidence import InCall, OfLeaf, WithoutCall
from exportdiff.judging.checks.state import sort_of
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.process_state import RANDOM_STATE, THREADS
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exportdiff.core.finding import Stage
    from exportdiff.judging.checks.compare.groups import Groups
    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.observation import (
        Aftermath,
        Call,
        EagerObservation,
        Observation,
        StageEffect,
    )
    from exportdiff.runtime.observing.tensors import State, TensorSnapshot


class _Changed(WithoutCall):
    """Export or lowering changed something; subclasses have the stage as a field."""

    @property
    def _doer(self) -> str:
        return {"lower": "lowering", "run": "a call"}.get(self.stage, self.stage)


@dataclass(frozen=True)
class StateChanged(_Changed):
    """A tensor of the model is another one, or gone, after export or lowering."""

    stage: Stage
    name: str
    sort: str
    """``parameter``, ``buffer`` or ``constant``."""
    leaf: LeafDifference
    """The tensor before and after."""
    missing: bool

    relation = Relation.SPOILS_START

    @property
    def aspect(self) -> str:
        """The property that differs."""
        if self.missing:
            return "missing"
        if self.sort == "constant" and self.leaf.word in ("sign-of-zero", "rounding"):
            # An in-place operation ran on the real tensor: one cause, whichever property differs.
            return "value"
        return self.leaf.word

    def words(self) -> tuple[str, ...]:
        return (self.stage, self.sort, self.aspect)

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} changed {self.sort} {self.name}"
        yield self.leaf.details("before", "after")


@dataclass(frozen=True)
class HeldTensorChanged(StateChanged):
    """A tensor in a list, tuple or dict of the model is another one after export or lowering.

    Such tensors are not compared before the first call, so only the calls show it.
    """

    relation = Relation.SPOILS_CALLS


@dataclass(frozen=True)
class StateCreated(_Changed):
    """The model has a parameter or buffer that it did not have, such as one that was None."""

    stage: Stage
    name: str
    sort: str
    """``parameter`` or ``buffer``."""
    tensor: str
    """Its class, dtype and shape."""

    def words(self) -> tuple[str, ...]:
        return (self.stage, self.sort, "created")

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} gave the model a {self.sort} {self.name} ({self.tensor}), which it did not have"


@dataclass(frozen=True)
class StateSharingChanged(_Changed):
    """Other tensors of the model are shared after export or lowering."""

    stage: Stage

    def words(self) -> tuple[str, ...]:
        return (self.stage, "sharing")

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} changed which tensors of the model are shared"


@dataclass(frozen=True)
class ExampleInputChanged(OfLeaf, _Changed):
    """An example input differs after export or lowering."""

    stage: Stage
    argument: str
    """As one would write it: ``args[0]``, ``kwargs['mask']``."""
    leaf: LeafDifference
    """The input before and after."""

    def words(self) -> tuple[str, ...]:
        return (self.stage, "input", self.leaf.word)

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} changed the example input {self.argument}"
        yield self.leaf.details("before", "after")


@dataclass(frozen=True)
class ModuleChanged(_Changed):
    """Training flags, hooks or plain attributes of modules differ after export or lowering."""

    stage: Stage
    sort: str
    """``training flag``, ``hooks``, ``attribute``, ``attribute of an unregistered module`` or ``FAKE``."""
    names: tuple[str, ...]

    @property
    def inside(self) -> bool:
        """Whether no result changes: a model in train mode gives others."""
        return self.sort != "training flag"

    def words(self) -> tuple[str, ...]:
        return (self.stage, self.sort)

    def lines(self) -> Iterator[str]:
        did = "left a" if self.sort == FAKE else "changed"
        yield f"{self._doer} {did} {self.sort} of the model: {_shown(self.names)}"


FAKE = "fake tensor in an object"
"""A sort of ``ModuleChanged``: a fake tensor in an object or a function of the program."""


@dataclass(frozen=True)
class ProcessChanged(_Changed):
    """A setting of the whole process differs after export or lowering."""

    stage: Stage
    names: tuple[str, ...]
    """By the names in ``Environment.process_state``."""
    failed: bool = False
    """Whether the stage raised."""

    @property
    def inside(self) -> bool:
        """Whether no later result changes, except random numbers after a stage that succeeded.

        Other settings change what runs next. A stage that failed should leave nothing behind.
        """
        return (_CHANGE_NO_RESULT if self.failed else _CHANGE_NO_RESULT | {RANDOM_STATE}).issuperset(
            self.names
        )

    def words(self) -> tuple[str, ...]:
        return (self.stage, "global", self.names[0])

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} changed the {_shown(self.names)}"


_CHANGE_NO_RESULT = frozenset({"sizes marked on the example inputs", "graph of the exported program"})


@dataclass(frozen=True)
class Printed(_Changed):
    """Export or lowering prints."""

    stage: Stage
    stream: str
    """``standard output`` or ``standard error``."""
    text: str = field(metadata=MEASURED)
    failed: bool
    """Whether the stage raised."""

    inside = True

    def words(self) -> tuple[str, ...]:
        return (self.stage, "prints", self.stream, *(("failed",) if self.failed else ()))

    def lines(self) -> Iterator[str]:
        yield f"{self._doer} prints to {self.stream}: {self.text.strip()[:_PRINTED]!r}"


_PRINTED = 80
"""How many characters of the printed text are shown."""


@dataclass(frozen=True)
class ProcessLeftDifferent(InCall):
    """After a call, a setting of the whole process is not as after eager's call."""

    call: int
    name: str
    """One of the names in ``Environment.process_state``."""
    altered: Altered | None
    """How the call differs from the example; None: it is an ordinary call."""
    raised: str
    """The class of the exception that the call raised; empty if it returned."""
    values: tuple[str, str] | None
    """What eager and the path left; None if the values mean nothing to people."""

    relation = Relation.INDEPENDENT

    @property
    def in_deviating_call(self) -> bool:
        """Whether the call deviates."""
        return self.altered is not None

    @property
    def inside(self) -> bool:
        """Whether only text is printed, by a deviating call: any other setting changes what runs next."""
        return self.in_deviating_call and self.name in _PRINTS

    def words(self) -> tuple[str, ...]:
        return ("run", "global", *(("raised",) if self.raised else ()), self.name)

    def lines(self) -> Iterator[str]:
        end = f", which raised {self.raised}" if self.raised else ""
        altered = self.altered
        call = f"call {self.call}" if altered is None else f"a call in which {altered.description}"
        yield f"after {call}{end}: the {self.name} differs"
        if self.values is not None:
            yield f"eager: {self.values[0]}; here: {self.values[1]}"
        if altered is not None:
            yield f"altered: {altered.deviation}"


def _shown(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) if name == "" else name for name in names[:5])


def purity(reference: EagerObservation, candidate: Observation) -> Iterator[Evidence]:
    """Compare the environment before and after each stage, and the process after each call."""
    for effect in candidate.stage_effects if isinstance(candidate, ExportedObservation) else ():
        stage, before, after = effect.stage, effect.before, effect.after
        yield from _state(effect)
        yield from _held(effect)
        yield from _inputs(effect)
        for sort, ours, theirs in (
            ("training flag", before.training, after.training),
            ("hooks", before.hooks, after.hooks),
            ("attribute", before.attributes, after.attributes),
            ("attribute of an unregistered module", before.unregistered, after.unregistered),
            (FAKE, before.fakes, after.fakes),
        ):
            if names := _names(ours, theirs):
                yield ModuleChanged(stage, sort, names)
        if names := _names(before.process_state, after.process_state):
            yield ProcessChanged(stage, names, effect.failed)
        if not reference.prints:
            for stream, text in effect.printed.items():
                yield Printed(stage, stream, text, effect.failed)
    yield from _after_calls(reference, candidate)


def _names(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in {**before, **after} if before.get(name) != after.get(name))


def _state(effect: StageEffect) -> Iterator[Evidence]:
    before, after = effect.before.state, effect.after.state
    reported: set[str] = set()
    for sort, name, tensor, later in _pairs(effect):
        found = compare_leaf(tensor, later or "nothing", metadata=True)
        if found is not None and name not in reported:
            yield StateChanged(effect.stage, name, sort, found, missing=later is None)
            # What shares its memory has changed with it.
            reported.update(*(group for group in before.shared if name in group))
    for name in sorted(after.tensors.keys() - before.tensors.keys() - before.constants.keys()):
        tensor = after.tensors[name]
        yield StateCreated(effect.stage, name, sort_of(tensor), f"{tensor.type} {tensor}")
        break  # the others have the same cause
    # A new constant is reported as a new attribute.
    names = frozenset(before.tensors) | frozenset(before.constants)
    if any(set(ours) != _among(names, theirs) for ours, theirs in _groups(before, after)):
        yield StateSharingChanged(effect.stage)


def _held(effect: StageEffect) -> Iterator[Evidence]:
    for name, tensor in effect.before.held.items():
        # One that is another object, or gone, is reported as a changed attribute.
        found = compare_leaf(tensor, effect.after.held.get(name, tensor), metadata=True)
        if found is not None:
            yield HeldTensorChanged(effect.stage, name, "constant", found, missing=False)
            break  # the others have the same cause


def _groups(before: State, after: State) -> tuple[tuple[Groups, Groups], ...]:
    return (before.same, after.same), (before.shared, after.shared)


def _among(names: frozenset[str], groups: Groups) -> set[frozenset[str]]:
    return {group & names for group in groups if len(group & names) > 1}


def _pairs(effect: StageEffect) -> Iterator[tuple[str, str, TensorSnapshot, TensorSnapshot | None]]:
    before, after = effect.before.state, effect.after.state
    # Constants first: a tensor that is also a buffer changes because it is a constant.
    for name, tensor in before.constants.items():
        yield "constant", name, tensor, after.constants.get(name)
    for name, tensor in before.tensors.items():
        yield sort_of(tensor), name, tensor, after.tensors.get(name)


def _inputs(effect: StageEffect) -> Iterator[Evidence]:
    for leaf, later in zip(effect.before.inputs.leaves, effect.after.inputs.leaves, strict=False):
        found = compare_leaf(leaf.value, later.value, metadata=True)
        if found is not None:
            yield ExampleInputChanged(effect.stage, argument(leaf.where), found)


def _after_calls(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare the settings of the process after each call, even if it raised; report the first difference."""
    made = {each.key: each.call for each in reference.deviations}
    usual: list[tuple[int, Altered | None, Call, Call]] = [
        (n, None, ours, theirs) for n, ours, theirs in comparable(reference, candidate)
    ]
    if len(usual) < min(len(reference.calls), len(candidate.calls)):  # what the path refuses comes last
        number = len(usual)
        usual.append((number, None, reference.calls[number], candidate.calls[number]))
    deviations = [
        (len(candidate.calls), Altered.of(each), made.get(each.key), each.call)
        for each in candidate.deviations
    ]
    for number, altered, ours, theirs in (*usual, *deviations):
        left = _first_left(ours, theirs) if ours is not None else None
        if left is not None:
            name, values = left
            raised = theirs.failure.name if theirs.failure is not None else ""
            yield ProcessLeftDifferent(number, name, altered, raised, values)
            return


_PRINTS = ("text on standard output", "text on standard error")
_ON_THE_WAY = (RANDOM_STATE, *_PRINTS)
"""What may differ after a call that raises: while it is traced, it has done nothing, and eager has run up to
the line that raises."""


def _first_left(ours: Call, theirs: Call) -> tuple[str, tuple[str, str] | None] | None:
    """Return the first thing that one call left different from the other, and both values."""
    if not ours.aftermath or not theirs.aftermath or (ours.failure and not theirs.failure):
        return None
    if theirs.failure is not None:
        return _left_by_refusal(ours.aftermath, theirs.aftermath)
    changed = ours.aftermath.changed | theirs.aftermath.changed
    for name, one, other in unequal(ours.aftermath.process_state, theirs.aftermath.process_state):
        if name == THREADS and name not in changed:
            continue  # a path that compiles may be given another number
        return name, None if isinstance(one, bytes) else (str(one), str(other))
    return None


def _left_by_refusal(ours: Aftermath, theirs: Aftermath) -> tuple[str, tuple[str, str] | None] | None:
    """Return the first setting that a call which raised has changed, and that eager's call has not."""
    for name in sorted(theirs.changed - ours.changed - {*_ON_THE_WAY}):
        return name, (str(ours.process_state[name]), str(theirs.process_state[name]))
    return None

"""state: parameters and buffers start as eager's do, and every call changes them as in eager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.comparable_calls import comparable
from exportdiff.judging.checks.compare.leaves import SEVERITY, LeafDifference, compare_leaf
from exportdiff.judging.checks.compare.mappings import unequal
from exportdiff.judging.checks.evidence import InCall, OfLeaf, WithoutCall
from exportdiff.runtime.observing.observation import EagerObservation, ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Stage
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.tensors import State, TensorSnapshot


@dataclass(frozen=True)
class StateMissing(WithoutCall):
    """The path has no tensor of this name."""

    name: str
    sort: str
    """``parameter`` or ``buffer``."""
    tensor: str
    """Eager's tensor: dtype and shape."""

    stage = "lower"
    relation = Relation.MISSING_STATE

    def words(self) -> tuple[str, ...]:
        return ("missing", self.sort)

    def lines(self) -> Iterator[str]:
        yield f"{self.sort} {self.name} ({self.tensor}) of eager is missing"


@dataclass(frozen=True)
class StateAdded(WithoutCall):
    """The state dict of the path has names that eager's does not have."""

    names: tuple[str, ...]

    stage = "lower"
    inside = True

    def words(self) -> tuple[str, ...]:
        return ("added",)

    def lines(self) -> Iterator[str]:
        yield f"the state dict has names that eager's has not: {', '.join(self.names[:5])}"


@dataclass(frozen=True)
class StateLeaf(OfLeaf):
    """One tensor of the state differs, after a call or before the first one."""

    call: int | None
    """None: before the first call."""
    name: str
    sort: str
    """``parameter``, ``buffer`` or ``constant``: a tensor that is a plain attribute."""
    leaf: LeafDifference

    kind = "mismatch"
    relation = Relation.IN_CALL

    @property
    def stage(self) -> Stage:  # type: ignore[override]  # a property serves readers as the attribute does
        """The stage that shows it."""
        return "lower" if self.call is None else "run"

    def words(self) -> tuple[str, ...]:
        return (self.leaf.word, self.sort, *(("at-start",) if self.call is None else ()))

    def lines(self) -> Iterator[str]:
        when = "before the first call" if self.call is None else f"after call {self.call}"
        yield f"{when}: {self.sort} {self.name} differs in {self.leaf.aspect}"
        yield self.leaf.details()


@dataclass(frozen=True)
class UpdateLost(OfLeaf, InCall):
    """Eager updates a tensor that the path does not have."""

    call: int
    name: str
    sort: str
    """``parameter`` or ``buffer``."""
    leaf: LeafDifference
    """How eager's call changes it."""

    def words(self) -> tuple[str, ...]:
        return (self.leaf.word, self.sort, "gone")

    def lines(self) -> Iterator[str]:
        yield f"after call {self.call}: eager has updated {self.sort} {self.name}, which is not here at all"


@dataclass(frozen=True)
class AttributeDiffers(InCall):
    """A plain attribute, a training flag or the number of hooks of a module differs after a call."""

    call: int
    name: str
    expected: str
    seen: str

    @property
    def sort(self) -> str:
        """``training``, a word that ends with ``hooks``, or ``attribute``."""
        return self.name.rpartition(".")[2] if self.name.endswith(("training", "hooks")) else "attribute"

    def words(self) -> tuple[str, ...]:
        return ("left", self.sort)

    def lines(self) -> Iterator[str]:
        yield f"after call {self.call}: {self.name} differs"
        yield f"eager: {self.expected}; here: {self.seen}"


def state(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare names, values and metadata of the state, before the first call and after each."""
    if reference.before is None or candidate.before is None:
        return
    yield from _missing(reference.before, candidate.before)
    yield from _added(reference, candidate)
    yield from _compare(reference.before, candidate.before, None)
    for number, ours, theirs in comparable(reference, candidate):
        yield from _compare(ours.state, theirs.state, number)
        yield from _lost(reference.before, ours.state, candidate, number)
    yield from _attributes(reference, candidate)


def _missing(ours: State, theirs: State) -> Iterator[Evidence]:
    for name, tensor in ours.tensors.items():
        if name not in theirs.tensors:
            yield StateMissing(name, sort_of(tensor), str(tensor))


def _added(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    hierarchy = reference.hierarchy if isinstance(reference, EagerObservation) else None
    if hierarchy is None or not isinstance(candidate, ExportedObservation):
        return
    if added := sorted(candidate.saved - hierarchy.persistent):
        yield StateAdded(tuple(added))


def _lost(before: State, after: State, candidate: Observation, call: int) -> Iterator[Evidence]:
    """Look for tensors that eager updates and that the path does not have."""
    if not isinstance(candidate, ExportedObservation):
        return
    here = candidate.before
    present = here.tensors.keys() if here is not None else set()
    names = present | here.constants.keys() if here is not None else set()
    # A name that eager itself no longer has is not an update.
    for name in sorted((candidate.dropped - present) & after.tensors.keys()):
        aliases = set().union(*(group for group in before.shared if name in group))
        found = compare_leaf(before.tensors[name], after.tensors[name])
        if found is not None and not aliases & names:
            yield UpdateLost(call, name, sort_of(before.tensors[name]), found)


def _compare(ours: State, theirs: State, call: int | None) -> Iterator[Evidence]:
    unlike = [
        StateLeaf(call, name, sort, found)
        for sort, name, expected, seen in _pairs(ours, theirs)
        if (found := _unlike(expected, seen, call)) is not None
    ]
    yield from sorted(unlike, key=lambda each: SEVERITY.index(each.leaf.word))


def _unlike(expected: TensorSnapshot, seen: TensorSnapshot, call: int | None) -> LeafDifference | None:
    """Compare two tensors; before the first call, also whether an optimizer takes them: only leaves."""
    found = compare_leaf(expected, seen, metadata=True)
    if found is None and call is None and expected.leaf != seen.leaf:
        return LeafDifference("leaf", str(expected.leaf), str(seen.leaf))
    return found


def _pairs(ours: State, theirs: State) -> Iterator[tuple[str, str, TensorSnapshot, TensorSnapshot]]:
    for name, expected in ours.tensors.items():
        if name in theirs.tensors:
            yield sort_of(expected), name, expected, theirs.tensors[name]
    for name, expected in ours.constants.items():
        # A path may keep a constant as a buffer. Under another name, it is not compared.
        if (seen := theirs.constants.get(name) or theirs.tensors.get(name)) is not None:
            yield "constant", name, expected, seen


def _attributes(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare plain attributes, training flags and hooks where both sides recorded them."""
    for number, ours, theirs in comparable(reference, candidate):
        if ours.aftermath is None or theirs.aftermath is None:
            return
        for name, expected, seen in unequal(ours.aftermath.attributes, theirs.aftermath.attributes):
            yield AttributeDiffers(number, name, str(expected), str(seen))


def sort_of(tensor: TensorSnapshot) -> str:
    """Return ``parameter`` or ``buffer``."""
    return "parameter" if tensor.type == "Parameter" else "buffer"

"""sharing: names that are one tensor, or share one storage, in eager do so on the path as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.crash import crash_lines
from exportdiff.judging.checks.compare.groups import listed, not_together
from exportdiff.judging.checks.compare.ordinary import beyond_ordinary, unlike_outputs
from exportdiff.judging.checks.evidence import InCall, OfLeaf, WithoutCall
from exportdiff.judging.checks.state import sort_of
from exportdiff.runtime.inputs.edits import FACTOR, plan_edits
from exportdiff.runtime.observing.aliasing import OUTPUT
from exportdiff.runtime.observing.observation import ExportedObservation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.tensors import State


@dataclass(frozen=True)
class _Grouped(WithoutCall):
    """Names are together on one side only; subclasses set ``word`` and ``says``."""

    names: frozenset[str]

    word: ClassVar[str]
    """For the signature."""
    says: ClassVar[str]
    """The message; ``{}`` stands for the names."""
    stage = "lower"

    def words(self) -> tuple[str, ...]:
        return (self.word,)

    def lines(self) -> Iterator[str]:
        yield self.says.format(listed(self.names))


@dataclass(frozen=True)
class TensorSplit(_Grouped):
    """Names that are one tensor in eager are several on the path."""

    sort: str
    """``parameter``, or ``buffer``: export keeps buffers that do not persist as constants, so that is one."""

    word = "one-tensor-became-several"
    says = "in eager {} are one tensor, here they are different tensors"
    relation = Relation.SPOILS_CALLS

    def words(self) -> tuple[str, ...]:
        return (self.word, self.sort)


@dataclass(frozen=True)
class MemorySplit(_Grouped):
    """Names that share memory in eager do not on the path."""

    word = "memory-no-longer-shared"
    says = "in eager {} share memory, here they do not"
    # Tensors that only share memory have separate metadata.
    relation = Relation.SPOILS_VALUES


@dataclass(frozen=True)
class TensorsMerged(_Grouped):
    """Names that are several tensors in eager are one on the path."""

    word = "several-tensors-became-one"
    says = "in eager {} are different tensors, here they are one"
    relation = Relation.SPOILS_CALLS


@dataclass(frozen=True)
class MemoryMerged(_Grouped):
    """Names that do not share memory in eager do on the path."""

    word = "memory-became-shared"
    says = "in eager {} do not share memory, here they do"
    # Tensors that only share memory have separate metadata.
    relation = Relation.SPOILS_VALUES


@dataclass(frozen=True)
class CallVariantState(_Grouped):
    """A later call of a module does not use the tensor of the first call."""

    word = "call-variant-has-its-own"
    says = "{}: not the tensor of the first call"
    relation = Relation.SPOILS_CALLS


@dataclass(frozen=True)
class CopyShares(WithoutCall):
    """A copy that must be independent has tensors in the memory of the original."""

    names: tuple[str, ...]
    unread: bool = False
    """Whether the program reads none of them."""

    stage = "lower"
    # If a call also differs, a reader wants to see that first.
    relation = Relation.POSSIBLE_CAUSE

    @property
    def inside(self) -> bool:
        """Whether they are unread: an update of one changes no result of the other."""
        return self.unread

    def words(self) -> tuple[str, ...]:
        return ("copy-shares",)

    def lines(self) -> Iterator[str]:
        unread = ", and nothing reads it" if self.unread else ""
        yield f"{listed(self.names)} of a copy is in the memory of the original{unread}"


@dataclass(frozen=True)
class EditRaised(InCall):
    """The call after an edit of the state raised, eager's did not."""

    call: int
    failure: Failure

    def words(self) -> tuple[str, ...]:
        return ("edit", "raises")

    def lines(self) -> Iterator[str]:
        yield from crash_lines(f"call {self.call}, after the state was edited in place,", self.failure)


@dataclass(frozen=True)
class EditDiffers(OfLeaf, InCall):
    """The call after an edit of the state returns something else than eager's."""

    call: int
    place: str
    """The place in the output, as one would write it: ``[0]['mask']``."""
    leaf: LeafDifference

    def words(self) -> tuple[str, ...]:
        return ("edit", self.leaf.word)

    def lines(self) -> Iterator[str]:
        yield (
            f"call {self.call}, after every parameter and buffer was multiplied by {FACTOR} in place: "
            f"output{self.place} differs in {self.leaf.aspect}"
        )
        yield self.leaf.details()


def sharing(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare which names are one object, which share memory, and what an edit does."""
    if reference.before is not None and candidate.before is not None:
        yield from _compare(reference.before, candidate.before)
    if isinstance(candidate, ExportedObservation) and candidate.still_shared:
        yield CopyShares(candidate.still_shared, candidate.dropped.issuperset(candidate.still_shared))
    yield from _edited(reference, candidate)


def _compare(ours: State, theirs: State) -> Iterator[Evidence]:
    both = ours.names & theirs.names
    known = frozenset(name for name in both if _device(ours, name) == _device(theirs, name))
    split = list(not_together(ours.same, theirs.same, known))
    reported = set().union(*split)
    for names in split:
        is_parameter = any(
            name in ours.tensors and sort_of(ours.tensors[name]) == "parameter" for name in names
        )
        yield TensorSplit(names, "parameter" if is_parameter else "buffer")
    for names in not_together(ours.shared, theirs.shared, known):
        if not names <= reported:
            yield MemorySplit(names)
    merged = list(not_together(theirs.same, ours.same, known))
    for names in merged:
        yield TensorsMerged(names)
    for names in not_together(theirs.shared, ours.shared, known):
        if names not in merged:
            yield MemoryMerged(names)
    if theirs.torn:
        yield CallVariantState(frozenset(theirs.torn))


def _device(state: State, name: str) -> str:
    """Return the device: a tensor that moved to another device cannot share memory as before."""
    return (state.tensors.get(name) or state.constants[name]).device


def _left_out(reference: Observation, candidate: Observation) -> bool:
    """Whether the path lacks all names of a tensor that eager's edit changes."""
    if reference.before is None or candidate.before is None:
        return False
    present = candidate.before.tensors.keys()
    return any(not names & present for names in plan_edits(reference.before))


def _edited(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare the call that is made once the state was edited, through the last name of each tensor."""
    ours, theirs = reference.edited, candidate.edited
    if ours is None or theirs is None or ours.failure is not None:
        return
    if _left_out(reference, candidate):
        return  # a tensor without a name cannot be edited: the state check reports it
    number = len(reference.calls)
    if theirs.failure is not None:
        yield EditRaised(number, theirs.failure)
        return
    if ours.outputs is None or theirs.outputs is None:
        return
    # What the ordinary calls show too is not an effect of the edit.
    for place, found in beyond_ordinary(unlike_outputs(ours.outputs, theirs.outputs), reference, candidate):
        yield EditDiffers(number, place.removeprefix(OUTPUT), found)

"""aliasing: outputs share memory as in eager, and users can write to them in place with the same effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.crash import message_words, shortened
from exportdiff.judging.checks.compare.groups import listed, not_together
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.evidence import InCall, OfLeaf
from exportdiff.judging.checks.state import sort_of
from exportdiff.runtime.observing.aliasing import INPUT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.aliasing import MutationProbe
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation


@dataclass(frozen=True)
class TogetherOnOneSide(InCall):
    """Outputs, and inputs or state, are together in eager or on the path, but not on both sides."""

    call: int
    names: frozenset[str]
    """Outputs, inputs and state that are together."""
    sorts: tuple[str, ...]
    """What these are: ``output``, ``input``, ``parameter``, ``buffer``, ``constant``."""
    new: bool
    """Whether they are together on the path only; else in eager only."""

    relation = Relation.IN_CALL_WEAK

    @property
    def sides(self) -> tuple[str, str]:
        """The side on which they are together, and the other one, in words."""
        return ("here", "in eager") if self.new else ("in eager", "here")


@dataclass(frozen=True)
class OutputMemory(TogetherOnOneSide):
    """Outputs share memory with something in eager and not on the path, or the reverse."""

    def words(self) -> tuple[str, ...]:
        return ("became-shared" if self.new else "no-longer-shared", *self.sorts)

    def lines(self) -> Iterator[str]:
        one, two = self.sides
        yield f"call {self.call}: {listed(self.names)} share memory {one}, {two} they do not"


@dataclass(frozen=True)
class WriteRefused(InCall):
    """An output can be written to on one side only."""

    call: int
    """The call after which the write is tried."""
    output: str
    in_eager: bool
    """Whether it is eager's output that cannot be written to."""

    relation = Relation.IN_CALL_WEAK

    def words(self) -> tuple[str, ...]:
        return ("write", "refused")

    def lines(self) -> Iterator[str]:
        here, there = ("works", "fails") if self.in_eager else ("fails", "works")
        yield f"after call {self.call}: a write to {self.output} {here} here, in eager it {there}"


@dataclass(frozen=True)
class WriteBarred(InCall):
    """Autograd does not allow to write to an output in place, which eager's output allows."""

    call: int
    """The call after which the write is tried."""
    output: str
    failure: Failure

    relation = Relation.IN_CALL_WEAK

    def words(self) -> tuple[str, ...]:
        return ("write", "barred", message_words(self.failure.message))

    def lines(self) -> Iterator[str]:
        write = f"after call {self.call}: {self.output}.add_(1)"
        yield f"{write} raises {self.failure.name} here, in eager it works"
        yield shortened(self.failure.message)


@dataclass(frozen=True)
class BackwardBarred(InCall):
    """After the same writes to the outputs, a backward pass raises on the path only."""

    call: int
    """The call whose outputs were written to."""
    failure: Failure

    relation = Relation.IN_CALL_WEAK

    def words(self) -> tuple[str, ...]:
        return ("write", "backward", message_words(self.failure.message))

    def lines(self) -> Iterator[str]:
        yield (
            f"after call {self.call}, and add_(1) on its outputs: the backward pass raises "
            f"{self.failure.name} here, in eager it works"
        )
        yield shortened(self.failure.message)


@dataclass(frozen=True)
class _WriteReaches(InCall):
    """A write to an output changes another tensor."""

    call: int
    """The call after which the write is made."""
    output: str
    name: str
    """The other tensor."""
    sorts: tuple[str, ...]
    """What the other tensor is."""

    relation = Relation.IN_CALL_WEAK

    @property
    def names(self) -> frozenset[str]:
        """Both names."""
        return frozenset((self.output, self.name))


@dataclass(frozen=True)
class WriteShows(_WriteReaches):
    """A write to an output changes another tensor on one side only."""

    in_eager: bool
    """Whether it changes in eager only; else on the path only."""

    def words(self) -> tuple[str, ...]:
        return ("write", *self.sorts)

    def lines(self) -> Iterator[str]:
        here, there = ("does not show", "shows") if self.in_eager else ("shows", "does not show")
        write = f"after call {self.call}: a write to {self.output}"
        yield f"{write} {here} in {self.name} here, in eager it {there}"


@dataclass(frozen=True)
class WriteDiffers(OfLeaf, _WriteReaches):
    """A write to an output changes another tensor on both sides, but differently."""

    leaf: LeafDifference
    """The other tensor after the write."""

    def words(self) -> tuple[str, ...]:
        return ("write", *self.sorts, self.leaf.word)

    def lines(self) -> Iterator[str]:
        yield (
            f"after call {self.call}: a write to {self.output} shows in {self.name}, "
            "but in another way than in eager"
        )
        yield self.leaf.details()


def aliasing(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare which tensors share memory with an output, and what a write to an output changes or breaks."""
    known = known_names(reference, candidate)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None or theirs.failure is not None:
            return
        for names in not_together(ours.memory.shared, theirs.memory.shared, known):
            yield OutputMemory(number, names, sorts_of(names, reference), new=False)
        for names in not_together(theirs.memory.shared, ours.memory.shared, known):
            yield OutputMemory(number, names, sorts_of(names, reference), new=True)
    probed = {probe.output: probe for probe in candidate.mutation_probes}
    for probe in reference.mutation_probes:
        if probe.output in probed:
            yield from _compare_writes(probe, probed[probe.output], known, reference)
    yield from _barred(reference, candidate)


def _barred(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare what autograd allows. What it allows on the path only does no harm."""
    call = len(reference.calls)
    wrote = {probe.output for probe in reference.mutation_probes if probe.tracked}
    barred = {probe.output: probe.barred for probe in candidate.mutation_probes if probe.output in wrote}
    failures = [(output, failure) for output, failure in barred.items() if failure is not None]
    for output, failure in failures:
        yield WriteBarred(call, output, failure)
    failed = candidate.backward_after_writes
    if wrote and not failures and failed is not None and reference.backward_after_writes is None:
        yield BackwardBarred(call, failed)


def _compare_writes(
    ours: MutationProbe, theirs: MutationProbe, known: frozenset[str], reference: Observation
) -> Iterator[Evidence]:
    call, output = len(reference.calls), ours.output
    if ours.refused != theirs.refused:
        yield WriteRefused(call, output, in_eager=ours.refused)
        return
    for name in sorted((ours.shows.keys() | theirs.shows.keys()) & known):
        expected, seen = ours.shows.get(name), theirs.shows.get(name)
        sorts = sorts_of((name,), reference)
        if expected is None or seen is None:
            yield WriteShows(call, output, name, sorts, in_eager=seen is None)
        elif (found := compare_leaf(expected, seen)) is not None:
            yield WriteDiffers(call, output, name, sorts, found)


def known_names(reference: Observation, candidate: Observation) -> frozenset[str]:
    """Return the names that both sides have: a path may keep state under fewer names, or swap them."""
    state: frozenset[str] = frozenset()
    if reference.before is not None and candidate.before is not None:
        state = reference.before.names & candidate.before.names
    calls = zip(reference.calls, candidate.calls, strict=False)
    memories = [call.memory for pair in calls for call in pair]
    groups = [group for memory in memories for group in (*memory.same, *memory.shared)]
    mutation_probes = [
        {probe.output, *probe.shows} for probe in (*reference.mutation_probes, *candidate.mutation_probes)
    ]
    mentioned = frozenset().union(*groups, *mutation_probes)
    return frozenset(name for name in mentioned if name.startswith((OUTPUT, INPUT))) | state


def sorts_of(names: Iterable[str], reference: Observation) -> tuple[str, ...]:
    """Return what the named tensors are: ``output``, ``input``, ``parameter``, ``buffer`` or ``constant``."""
    return tuple(sorted({_sort(name, reference) for name in names}))


def _sort(name: str, reference: Observation) -> str:
    if name.startswith((OUTPUT, INPUT)):
        return "output" if name.startswith(OUTPUT) else "input"
    state = reference.before
    if state is None or name not in state.tensors:
        return "constant"
    return sort_of(state.tensors[name])

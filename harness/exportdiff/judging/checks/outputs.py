"""outputs: the path returns what eager returns, to the bit, and raises nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.aliasing import TogetherOnOneSide, known_names, sorts_of
from exportdiff.judging.checks.compare.crash import crash_lines, crash_words, shortened
from exportdiff.judging.checks.compare.groups import listed, not_together
from exportdiff.judging.checks.compare.guard_failures import is_guard_failure
from exportdiff.judging.checks.compare.leaves import SEVERITY, compare_leaf
from exportdiff.judging.checks.evidence import InCall, OfLeaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.finding import Stage
    from exportdiff.judging.checks.compare.leaves import LeafDifference
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.observing.tensors import Tree


@dataclass(frozen=True)
class PathRaised(Evidence):
    """The path raised, eager did not."""

    failure: Failure
    call: int | None
    """None: export or lowering raised."""

    kind = "crash"
    relation = Relation.IN_CALL

    @property
    def stage(self) -> Stage:  # type: ignore[override]  # a property serves readers as the attribute does
        """The stage that raised."""
        return self.failure.stage

    @property
    def title(self) -> str:
        """The exception, and the first line of its text; two lines if the first ends with a colon."""
        lines = [line.strip() for line in self.failure.message.splitlines() if line.strip()]
        first = lines[: 2 if lines and lines[0].endswith(":") else 1]
        return " ".join((f"{self.failure.name}:", *first))

    def words(self) -> tuple[str, ...]:
        return crash_words(self.failure)

    def lines(self) -> Iterator[str]:
        where = {"export": "export", "lower": "lowering", "run": f"call {self.call}"}[self.failure.stage]
        yield from crash_lines(where, self.failure)
        if self.failure.frames:
            yield f"in torch at {' > '.join(self.failure.frames)}"


@dataclass(frozen=True)
class OnlyEagerRaised(InCall):
    """The path returned, and eager raised."""

    call: int
    failure: Failure
    """Eager's exception."""

    def words(self) -> tuple[str, ...]:
        return ("answered", self.failure.name)

    def lines(self) -> Iterator[str]:
        yield f"call {self.call} returned, eager raised {self.failure.name}"
        yield shortened(self.failure.message)


@dataclass(frozen=True)
class OutputStructure(InCall):
    """The output has another pytree structure."""

    call: int
    expected: str
    seen: str

    def words(self) -> tuple[str, ...]:
        return ("structure",)

    def lines(self) -> Iterator[str]:
        yield f"call {self.call}: the output has another structure than in eager"
        yield f"eager: {self.expected}"
        yield f"here: {self.seen}"


@dataclass(frozen=True)
class OutputAttribute(InCall):
    """An object in the output has lost an attribute, or has another value for it."""

    call: int
    place: str
    """The attribute in the output, as one would write it: ``[0].name``."""
    expected: str
    seen: str
    """Empty: there is no such attribute."""

    def words(self) -> tuple[str, ...]:
        return ("attribute", *(() if self.seen else ("lost",)))

    def lines(self) -> Iterator[str]:
        yield f"call {self.call}: output{self.place} differs"
        yield f"eager: {self.expected}; here: {self.seen or 'there is no such attribute'}"


@dataclass(frozen=True)
class OutputLeaf(OfLeaf, InCall):
    """One leaf of the output differs."""

    call: int
    place: str
    """The place in the output, as one would write it: ``[0]['mask']``."""
    role: str
    """What the leaf is in eager besides an output, such as ``output-is-input``; or ``fresh``."""
    leaf: LeafDifference

    @property
    def is_state(self) -> bool:
        """Whether the output is, or lives in, the model's state."""
        return self.role.endswith(("buffer", "param", "constant"))

    def words(self) -> tuple[str, ...]:
        return (self.leaf.word, self.role)

    def lines(self) -> Iterator[str]:
        yield f"call {self.call}: output{self.place} differs in {self.leaf.aspect}"
        yield self.leaf.details()
        if self.role != "fresh":
            yield f"in eager: {self.role.replace('-', ' ')}"


@dataclass(frozen=True)
class OutputIdentity(TogetherOnOneSide):
    """In eager, an output and another tensor are one object. On the path they are not, or the reverse."""

    def words(self) -> tuple[str, ...]:
        return ("identity", *self.sorts, *(("new",) if self.new else ()))

    def lines(self) -> Iterator[str]:
        one, two = self.sides
        yield f"call {self.call}: {listed(self.names)} are one object {one}, {two} they are not"


def outputs(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare exceptions, structure, values, metadata and identity, call by call."""
    if candidate.failure is not None:
        yield PathRaised(candidate.failure, None)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None:
            if theirs.failure is None:
                yield OnlyEagerRaised(number, ours.failure)
            return  # after an exception, the state is undefined, and later calls cannot be compared
        if theirs.failure is not None:
            if not is_guard_failure(theirs):  # the check ``guards`` judges these
                yield PathRaised(theirs.failure, number)
        elif ours.outputs is not None and theirs.outputs is not None:
            yield from _compare(ours.outputs, theirs.outputs, number)
            yield from _identities(reference, candidate, number)


def _compare(ours: Tree, theirs: Tree, call: int) -> Iterator[Evidence]:
    if ours.structure != theirs.structure:
        yield OutputStructure(call, ours.structure, theirs.structure)
        if len(ours.leaves) != len(theirs.leaves):
            return
    unlike = [
        (found, expected)
        for expected, seen in zip(ours.leaves, theirs.leaves, strict=True)
        if (found := compare_leaf(expected.value, seen.value, metadata=True)) is not None
    ]
    for place, text in ours.attributes.items():
        if (other := theirs.attributes.get(place, "")) != text:
            yield OutputAttribute(call, place, text, other)
    for found, leaf in sorted(unlike, key=lambda pair: SEVERITY.index(pair[0].word)):
        yield OutputLeaf(call, leaf.where, leaf.role, found)


def _identities(reference: Observation, candidate: Observation, call: int) -> Iterator[Evidence]:
    """Compare which outputs are one object with another output, an input or a tensor of the state."""
    ours, theirs = reference.calls[call].memory, candidate.calls[call].memory
    known = known_names(reference, candidate)
    for names in not_together(ours.same, theirs.same, known):
        yield OutputIdentity(call, names, sorts_of(names, reference), new=False)
    for names in not_together(theirs.same, ours.same, known):
        yield OutputIdentity(call, names, sorts_of(names, reference), new=True)

"""guards: the program accepts the inputs that it was exported with, and records their metadata correctly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.finding import Evidence, Relation
from exportdiff.judging.checks.compare.crash import shortened
from exportdiff.judging.checks.compare.guard_failures import input_misfit
from exportdiff.judging.checks.compare.leaves import LeafDifference
from exportdiff.judging.checks.compare.metadata import unlike_recorded
from exportdiff.judging.checks.evidence import InCall, OfLeaf, WithoutCall
from exportdiff.judging.checks.guards.deviations import deviations
from exportdiff.judging.checks.guards.recompiles import recompiles
from exportdiff.judging.checks.guards.sizes import refused_sizes
from exportdiff.runtime.observing.observation import ExportedObservation
from exportdiff.runtime.observing.tensors import argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation, Placeholder


@dataclass(frozen=True)
class WrongRecord(OfLeaf, WithoutCall):
    """The graph records other metadata of an input than it was exported with."""

    sort: str
    """``input``, ``parameter`` or ``buffer``."""
    name: str
    """The name of the tensor of the state; for an input, as one would write it: ``args[0]``."""
    leaf: LeafDifference
    """Expected is what was handed in, seen what is recorded. ``value``: a Python value differs."""

    stage = "export"

    def words(self) -> tuple[str, ...]:
        return ("recorded", self.leaf.word, self.sort)

    def lines(self) -> Iterator[str]:
        yield f"the graph records another {self.leaf.word} than that of {self.sort} {self.name}"
        yield f"handed in: {self.leaf.expected}; recorded: {self.leaf.seen}"


@dataclass(frozen=True)
class CallRefused(InCall):
    """A call that the export promises to accept is refused."""

    call: int
    misfit: str
    """What of the inputs does not fit, by the refusal: ``size``, ``value``, ``structure``, ``assertion``."""
    probe: bool
    """Whether the call has other sizes than the example's."""
    failure: Failure

    kind = "crash"
    relation = Relation.INDEPENDENT

    def words(self) -> tuple[str, ...]:
        return ("refused", self.misfit)

    def lines(self) -> Iterator[str]:
        promised = (
            "with sizes that its dynamic_shapes allow"
            if self.probe
            else "with the metadata of those it was exported with"
        )
        yield f"call {self.call}: refused inputs {promised}"
        yield f"{self.failure.name}: {shortened(self.failure.message)}"


def guards(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Compare recorded input metadata with the inputs' own, and look for refused calls."""
    explained = False
    for placeholder in candidate.placeholders if isinstance(candidate, ExportedObservation) else ():
        if (unlike := _unlike(placeholder)) is not None:
            is_input = placeholder.kind == "input"
            explained |= is_input and unlike.word in ("shape", "value")
            name = argument(placeholder.where) if is_input else placeholder.where
            yield WrongRecord(placeholder.kind, name, unlike)
    for number, call in enumerate(candidate.calls):
        # A guard made from a wrong record has to refuse: do not report that as a second finding.
        if explained or call.failure is None or _raised(reference, number):
            continue
        if (what := input_misfit(call.failure, probe=call.probe)) is not None:
            yield CallRefused(number, what, call.probe, call.failure)
    yield from _refused_small_calls(reference, candidate)
    yield from refused_sizes(candidate)
    yield from recompiles(reference, candidate)
    yield from deviations(reference, candidate)


def _refused_small_calls(reference: Observation, candidate: Observation) -> Iterator[Evidence]:
    """Look for calls with a size of 0 or 1 that eager accepts, and that the program declares to accept."""
    accepted = {each.number for each in reference.small_calls if each.call.failure is None}
    for each in candidate.small_calls:
        failure = each.call.failure
        if failure is None or each.number not in accepted:
            continue
        if (what := input_misfit(failure, probe=True)) is not None:
            yield CallRefused(each.number, what, probe=True, failure=failure)


def _raised(reference: Observation, call: int) -> bool:
    return call < len(reference.calls) and reference.calls[call].failure is not None


def _unlike(placeholder: Placeholder) -> LeafDifference | None:
    recorded, actual = placeholder.recorded, placeholder.actual
    if isinstance(recorded, str) or isinstance(actual, str):
        return None if recorded == actual else LeafDifference("value", str(actual), str(recorded))
    return unlike_recorded(actual, recorded)

"""aliasing: outputs live in the memory of inputs, state and each other as in eager, and writes show so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare.groups import listed, not_together
from harness.checks.compare.leaves import compare_leaf
from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of
from harness.observe.aliasing import INPUT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.observe.aliasing import MutationProbe
    from harness.observe.observation import Observation


def aliasing(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    """Compare who shares memory with an output, call by call, and what writing to an output shows."""
    for difference in _compare(reference, candidate):
        yield replace(difference, weak=True)


def _compare(reference: Observation, candidate: Observation) -> Iterator[Difference]:
    known = known_names(reference, candidate)
    for number, (ours, theirs) in enumerate(zip(reference.calls, candidate.calls, strict=False)):
        if ours.failure is not None or theirs.failure is not None:
            return
        for names in not_together(ours.memory.shared, theirs.memory.shared, known):
            yield mismatch(
                ("no-longer-shared", *partners(names, reference)),
                f"call {number}: {listed(names)} share memory in eager, here they do not",
                call=number,
                about=names,
            )
        for names in not_together(theirs.memory.shared, ours.memory.shared, known):
            yield mismatch(
                ("became-shared", *partners(names, reference)),
                f"call {number}: {listed(names)} share memory here, in eager they do not",
                call=number,
                about=names,
            )
    probed = {probe.output: probe for probe in candidate.mutation_probes}
    for probe in reference.mutation_probes:
        if probe.output in probed:
            yield from _probe(probe, probed[probe.output], known, len(reference.calls), reference)


def _probe(
    ours: MutationProbe, theirs: MutationProbe, known: frozenset[str], call: int, reference: Observation
) -> Iterator[Difference]:
    when = f"after call {call}: a write to {ours.output}"
    if ours.refused != theirs.refused:
        here, there = ("works", "fails") if ours.refused else ("fails", "works")
        yield mismatch(("write", "refused"), f"{when} {here} here, in eager it {there}", call=call)
        return
    for name in sorted((ours.shows.keys() | theirs.shows.keys()) & known):
        expected, seen = ours.shows.get(name), theirs.shows.get(name)
        if expected is None or seen is None:
            here, there = ("does not show", "shows") if seen is None else ("shows", "does not show")
            yield mismatch(
                ("write", *partners((name,), reference)),
                f"{when} {here} in {name} here, in eager it {there}",
                call=call,
                about=(ours.output, name),
            )
        elif (found := compare_leaf(expected, seen)) is not None:
            yield mismatch(
                ("write", *partners((name,), reference), found.word),
                f"{when} shows in {name}, but in another way than in eager",
                found.details,
                call=call,
                about=(ours.output, name),
            )


def known_names(reference: Observation, candidate: Observation) -> frozenset[str]:
    """Return the names that both have: a path may keep state under fewer of them, or turn it around."""
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


def partners(names: Iterable[str], reference: Observation) -> tuple[str, ...]:
    """Return the sorts of things that a group of names consists of, in stable words."""
    return tuple(sorted({_sort(name, reference) for name in names}))


def _sort(name: str, reference: Observation) -> str:
    if name.startswith((OUTPUT, INPUT)):
        return "output" if name.startswith(OUTPUT) else "input"
    state = reference.before
    if state is None or name not in state.tensors:
        return "constant"
    return sort_of(state.tensors[name])

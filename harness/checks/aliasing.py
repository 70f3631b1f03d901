"""aliasing: outputs live in the memory of inputs, state and each other as in eager, and writes show so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.compare import compare_leaf
from harness.checks.groups import listed, not_together
from harness.checks.registry import Difference, mismatch
from harness.checks.state import sort_of
from harness.memory import INPUT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.memory import Poke
    from harness.observation import Observation


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
    poked = {poke.output: poke for poke in candidate.pokes}
    for poke in reference.pokes:
        if poke.output in poked:
            yield from _poke(poke, poked[poke.output], known, len(reference.calls), reference)


def _poke(
    ours: Poke, theirs: Poke, known: frozenset[str], call: int, reference: Observation
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
    pokes = [{poke.output, *poke.shows} for poke in (*reference.pokes, *candidate.pokes)]
    mentioned = frozenset().union(*groups, *pokes)
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

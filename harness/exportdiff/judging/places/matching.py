"""Which events of a path's log stand for which events of eager's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.operator_log import BEFORE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from exportdiff.runtime.observing.operator_log import LogEntry


@dataclass
class Matching:
    """By the index of an event of eager."""

    same_operators: bool = True
    """Whether the path runs the operators of eager."""
    of_memory: bool = False
    """Whether to look for a difference of which tensors share memory; all values may be right then."""
    same: set[int] = field(default_factory=set)
    """The events whose results the path has too."""
    pairs: dict[int, LogEntry] = field(default_factory=dict)
    """The events of the path that stand for events of eager, with the same result or another."""
    extra: set[int] = field(default_factory=set)
    """The indices of the events of the path that stand for no event of eager."""
    unknown: set[int] = field(default_factory=set)
    """Named values that the path does not have; they say nothing."""


def match(
    eager: Sequence[LogEntry],
    here: Sequence[LogEntry],
    *,
    same_operators: bool,
    stride: bool,
    of_memory: bool = False,
    first_names: Mapping[str, str] | None = None,
) -> Matching:
    """Match two logs, call by call.

    ``stride``: whether results with other strides are other results. ``first_names``: the first name of each
    name of a module; the path may call a module by another of its names.
    """
    found = Matching(same_operators, of_memory)
    _match_named(eager, here, found, exact=same_operators)
    for call in sorted({event.call for event in eager}):
        ours = [event for event in eager if event.call == call and event.operator]
        theirs = [event for event in here if event.call == call]
        if same_operators:
            operators = [event for event in theirs if event.operator]
            _match_operators(ours, operators, found, stride=stride, first_names=first_names or {})
        else:  # what an operator of eager gives may be there from the start
            _match_results(ours, [e for e in theirs if e.operator or e.name.startswith(BEFORE)], found)
    paired = {event.index for event in found.pairs.values()}
    found.extra = {event.index for event in here if event.operator and event.index not in paired}
    return found


def _match_named(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], found: Matching, *, exact: bool
) -> None:
    named = {(event.call, event.name): event for event in here if event.name}
    for event in eager:
        if not event.name:
            continue
        other = named.get((event.call, event.name))
        if other is None:
            found.unknown.add(event.index)
            continue
        found.pairs[event.index] = other
        if _equal(event, other) or (not exact and _alike(event, other)):
            found.same.add(event.index)


def _match_operators(
    ours: Sequence[LogEntry],
    theirs: Sequence[LogEntry],
    found: Matching,
    *,
    stride: bool,
    first_names: Mapping[str, str],
) -> None:
    """Match operators in their order.

    First those of one line and module with equal results, then those of one line and module between them.
    Then those that are left: again by their results, and then in their order.
    """

    def with_results(event: LogEntry) -> Hashable:
        strides = tuple(value.stride for value in event.values) if stride else ()
        return (*_operator(event), strides, *(value.digest for value in event.values))

    def of_line(event: LogEntry) -> Hashable:
        module = event.place.module
        return (*_operator(event), event.place.line, first_names.get(module or "", module))

    def of_line_with_results(event: LogEntry) -> Hashable:
        return of_line(event), with_results(event)

    _match_blocks(ours, theirs, found, of_line_with_results)
    _match_rest(ours, theirs, found, of_line)
    paired = {event.index for event in found.pairs.values()}
    left = [event for event in ours if event.index not in found.pairs]
    left_here = [event for event in theirs if event.index not in paired]
    for event, other in _moved(left, left_here, with_results):
        found.pairs[event.index] = other
    _match_rest(ours, theirs, found, _operator, replaced=True)
    found.same.update(e.index for e in ours if e.index in found.pairs and _gives_same(e, found, with_results))


def _gives_same(event: LogEntry, found: Matching, with_results: Callable[[LogEntry], Hashable]) -> bool:
    return with_results(event) == with_results(found.pairs[event.index])


def _match_blocks(
    ours: Sequence[LogEntry],
    theirs: Sequence[LogEntry],
    found: Matching,
    key: Callable[[LogEntry], Hashable],
) -> None:
    for start, start_here, size in _blocks(ours, theirs, key):
        for event, other in zip(
            ours[start : start + size], theirs[start_here : start_here + size], strict=True
        ):
            found.pairs[event.index] = other


def _match_rest(
    ours: Sequence[LogEntry],
    theirs: Sequence[LogEntry],
    found: Matching,
    key: Callable[[LogEntry], Hashable],
    *,
    replaced: bool = False,
) -> None:
    """In each gap between matched events, match the events with the same key.

    ``replaced``: whether to match other operators as well, if they give tensors of the same shapes.
    """
    taken = {event.index for event in found.pairs.values()}
    index = {event.index: at for at, event in enumerate(theirs)}
    start = 0
    gap: list[LogEntry] = []
    for event in (*ours, None):
        if event is not None and event.index not in found.pairs:
            gap.append(event)
            continue
        end = len(theirs) if event is None else index[found.pairs[event.index].index]
        rest = [other for other in theirs[start:end] if other.index not in taken]
        for one, size_one, size in _blocks(gap, rest, key):
            for ours_one, other in zip(gap[one : one + size], rest[size_one : size_one + size], strict=True):
                found.pairs[ours_one.index] = other
                taken.add(other.index)
        if replaced:
            _match_replaced(gap, [other for other in rest if other.index not in taken], found)
            taken.update(event.index for event in found.pairs.values())
        gap = []
        start = max(start, end + 1)


def _match_replaced(gap: Sequence[LogEntry], rest: Sequence[LogEntry], found: Matching) -> None:
    """Match the other operators of a gap, if they give tensors of the same shapes."""
    left = list(rest)
    for event in gap:
        if event.index not in found.pairs:
            other = next((each for each in left if _operator(each)[1:] == _operator(event)[1:]), None)
            if other is not None:
                found.pairs[event.index] = other
                left.remove(other)


def _blocks(
    ours: Sequence[LogEntry], theirs: Sequence[LogEntry], key: Callable[[LogEntry], Hashable]
) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, list(map(key, ours)), list(map(key, theirs)), autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]


def _moved(
    ours: Sequence[LogEntry], theirs: Sequence[LogEntry], key: Callable[[LogEntry], Hashable]
) -> list[tuple[LogEntry, LogEntry]]:
    """Match events with equal results that are in another order."""
    by_key: dict[Hashable, list[LogEntry]] = defaultdict(list)
    for event in reversed(theirs):
        by_key[key(event)].append(event)
    return [(event, by_key[key(event)].pop()) for event in ours if by_key[key(event)]]


def _operator(event: LogEntry) -> tuple[Hashable, ...]:
    return event.operator, event.backward, tuple((value.dtype, value.shape) for value in event.values)


def _match_results(ours: Sequence[LogEntry], theirs: Sequence[LogEntry], found: Matching) -> None:
    """Match events by their results alone, up to rounding: the path has other operators.

    An operator of eager is there if something on the path gives what it gave.
    """
    by_shape: dict[Hashable, list[LogEntry]] = defaultdict(list)
    for event in theirs:
        for shape in {value.shape for value in event.values}:
            by_shape[shape].append(event)
    for event in ours:
        candidates = by_shape[event.values[0].shape] if event.values else []
        other = next((other for other in candidates if _gives(other, event)), None)
        if other is not None or not event.values:
            found.same.add(event.index)
        else:  # what the same line gives instead
            alike = [each for each in candidates if each.place.line == event.place.line and each.operator]
            other = alike[-1] if alike else None
        if other is not None:
            found.pairs[event.index] = other


def _gives(other: LogEntry, event: LogEntry) -> bool:
    return any(event.values[0].resembles(value) for value in other.values)


def _equal(event: LogEntry, other: LogEntry) -> bool:
    return len(event.values) == len(other.values) and all(
        ours.equals(theirs) for ours, theirs in zip(event.values, other.values, strict=True)
    )


def _alike(event: LogEntry, other: LogEntry) -> bool:
    return len(event.values) == len(other.values) and all(
        ours.resembles(theirs) for ours, theirs in zip(event.values, other.values, strict=True)
    )

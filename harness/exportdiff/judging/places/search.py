"""Finds the first event of eager that a path does not have, or has with another result.

The search begins at the values that differ, and goes back along eager's flow of data, through events with
other results. It ends where all that an event reads is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.aliasing import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.judging.places.matching import Matching
    from exportdiff.runtime.observing.operator_log import LogEntry


@dataclass(frozen=True)
class Parting:
    """The first event in which both sides differ."""

    eager: LogEntry | None
    """None: the path does something that eager does not do."""
    here: LogEntry | None
    """None: the path does not do it."""
    written: LogEntry | None = None
    """The named value on the path, if the event itself is right, and its result did not arrive there."""
    requires_grad: bool | None = None
    """Whether the result requires grad in eager, if that is the difference."""
    returned: bool = False
    """Whether all is right until the model returns it."""


def search(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching, targets: Iterable[LogEntry]
) -> Parting | None:
    """Return the first difference that the targets, which are named values of eager, depend on."""
    targets = list(targets)
    wrong = _wrong(eager, matching, [number for target in targets for number in target.reads])
    if wrong:
        return _parting(eager, here, matching, eager[min(wrong)])
    found = [lost for target in targets if (lost := _not_arrived(eager, here, matching, target)) is not None]
    # Of several names, the last statement makes the difference between them: the return, if one is an output.
    return max(found, key=_order, default=None)


def _order(parting: Parting) -> tuple[bool, int]:
    return parting.returned, parting.eager.index if parting.eager is not None else -1


def first_of_all(eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching) -> Parting | None:
    """Return the first difference in the order of eager, whatever depends on it."""
    for event in eager:
        if event.operator and event.index not in matching.same and _is_clean(eager, matching, event):
            return _parting(eager, here, matching, event)
    extra = [event for event in here if event.index in matching.extra and event.place.file]
    return Parting(None, extra[0]) if extra else None


def first_moved(eager: Sequence[LogEntry], matching: Matching) -> Parting | None:
    """Return the first operator that another module runs than in eager."""
    for event in eager:
        other = matching.pairs.get(event.index)
        if event.operator and other is not None and other.running is not None:
            module = other.running.partition("@")[0]
            if event.place.module is not None and module != event.place.module:
                return Parting(event, other)
    return None


def first_without_gradient(
    eager: Sequence[LogEntry], matching: Matching, ours: Mapping[int, bool], theirs: Mapping[int, bool]
) -> Parting | None:
    """Return the first operator whose result requires grad on one side only."""
    for event in eager:
        other = matching.pairs.get(event.index)
        if event.backward or other is None or not event.operator:
            continue
        flags = ours.get(event.index), theirs.get(other.index)
        if None not in flags and flags[0] is not flags[1]:
            return Parting(event, other, requires_grad=flags[0])
    return None


def _is_clean(eager: Sequence[LogEntry], matching: Matching, event: LogEntry) -> bool:
    return not _wrong(eager, matching, event.reads)


def _wrong(eager: Sequence[LogEntry], matching: Matching, start: Iterable[int]) -> set[int]:
    """Return the events with other results, going back from ``start`` through such events alone."""
    found: set[int] = set()
    todo, seen = list(start), set()
    while todo:
        number = todo.pop()
        if number in seen or number in matching.same:
            continue
        seen.add(number)
        if number not in matching.unknown:
            found.add(number)
        todo += eager[number].reads
    return found


def _parting(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching, event: LogEntry
) -> Parting:
    other = matching.pairs.get(event.index)
    if event.name and (lost := _not_arrived(eager, here, matching, event)) is not None:
        return lost
    if other is not None and (extra := _extra(eager, here, matching, event, other)) is not None:
        return Parting(None, extra)
    return Parting(event, other)


def _not_arrived(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching, target: LogEntry
) -> Parting | None:
    """All is right that a named value is made from: say what should have written it, or what else does."""
    other = matching.pairs.get(target.index)
    if other is not None and (extra := _extra(eager, here, matching, target, other)) is not None:
        return Parting(None, extra)
    made = [number for number in target.reads if eager[number].operator]
    if target.name.startswith(OUTPUT):
        event = eager[max(made)] if made else target
        instead = None if matching.of_memory else _maker(here, other)
        if instead is not None and _of_same_line(instead, event):
            return Parting(event, instead)  # only by chance, the path has an equal value elsewhere
        returned = matching.of_memory or instead is not None
        return Parting(event, None, written=other, returned=returned)
    if made:
        return Parting(eager[max(made)], None, written=other)
    reads = other.reads if other is not None else ()
    made_here = [number for number in reads if here[number].operator and here[number].place.file]
    return Parting(None, here[max(made_here)], written=other) if made_here else None


def _of_same_line(one: LogEntry, other: LogEntry) -> bool:
    return (one.place.file, one.place.line) == (other.place.file, other.place.line)


def _maker(here: Sequence[LogEntry], output: LogEntry | None) -> LogEntry | None:
    """Return the last operator that made a named value on the path."""
    reads = output.reads if output is not None else ()
    return max((here[n] for n in reads if here[n].operator), key=lambda each: each.index, default=None)


_WRITE_BACK = "aten.copy_.default"
"""Export adds it to write the new value of a buffer or an input; the line of its node says nothing."""


def _extra(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching, event: LogEntry, other: LogEntry
) -> LogEntry | None:
    """Return the first event that only the path has, and that changed what ``other`` reads."""
    if not matching.same_operators:
        return None  # it has events of its own everywhere
    known = {value.digest for number in event.reads for value in eager[number].values}
    found: list[LogEntry] = []
    todo, seen = list(other.reads), set()
    while todo:
        number = todo.pop()
        if number in seen or number not in matching.extra:
            continue
        seen.add(number)
        todo += here[number].reads
        changes = not any(value.digest in known for value in here[number].values)
        if changes and here[number].place.file and here[number].operator != _WRITE_BACK:
            found.append(here[number])
    return min(found, key=lambda each: each.index) if found else None

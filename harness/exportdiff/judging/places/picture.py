"""Makes plain data of two logs: the calls of modules, in order, each with what both sides did in it."""

from __future__ import annotations

import linecache
import pathlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.side_by_side import ModuleRow, OperatorRow, SideBySide
from exportdiff.runtime.observing.logged_values import in_words
from exportdiff.runtime.observing.operator_log import BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.core.side_by_side import State
    from exportdiff.judging.places.matching import Matching
    from exportdiff.judging.places.search import Parting
    from exportdiff.runtime.observing.operator_log import LogEntry
    from exportdiff.runtime.paths.run.logged import LoggedRun

MODULES = 300
"""How many calls of modules are listed."""
OPERATORS = 1200
"""How many operators are listed."""

_WORST: tuple[State, ...] = ("first", "different", "absent", "added", "not compared", "equal")

_Key: TypeAlias = tuple[int, Literal["forward", "backward", "results"], str, int]


def side_by_side(
    eager: LoggedRun,
    here: LoggedRun,
    matching: Matching,
    parting: Parting | None,
    place: FirstDifference,
    *,
    same_operators: bool,
) -> SideBySide:
    """Return what both sides did. The first difference is marked once.

    ``parting``: None if one side raised.
    """
    picture = _Picture(eager, matching, parting, place, same_operators)
    for one, other in _steps(eager.events, here.events, matching):
        picture.add(one, other)
    picture.mark()
    return _bounded(picture.rows())


def _steps(
    eager: Sequence[LogEntry], here: Sequence[LogEntry], matching: Matching
) -> Iterator[tuple[LogEntry | None, LogEntry | None]]:
    """Yield what eager did with what stands for it; then what the path alone did after it."""
    stands_for = {other.index: number for number, other in matching.pairs.items()}
    after: dict[int, list[LogEntry]] = defaultdict(list)
    last = -1
    for event in here:
        if event.index in stands_for:
            last = stands_for[event.index]
        elif event.operator:
            after[last].append(event)
    yield from ((None, other) for other in after[-1])
    for event in eager:
        yield event, matching.pairs.get(event.index)
        yield from ((None, other) for other in after[event.index])


@dataclass
class _Picture:
    eager: LoggedRun
    matching: Matching
    parting: Parting | None
    place: FirstDifference
    same_operators: bool
    groups: dict[_Key, list[OperatorRow]] = field(default_factory=dict)
    marked: bool = False
    _last: _Key = (0, "forward", "", 1)

    def add(self, one: LogEntry | None, other: LogEntry | None) -> None:
        event = one or other
        assert event is not None, "a step is on one side at least"
        if event.name.startswith(BEFORE):
            return
        state = self._state(one, other)
        key = self._key(event)
        if state == "first":
            self.marked = True
        self._group(key).append(self._row(state, one, other))

    def mark(self) -> None:
        """Mark the first difference if it is no operator: an exception, or what is returned."""
        if self.marked:
            return
        place = self.place
        key: _Key = (place.call or 0, "forward", place.module or "", place.module_call or 1)
        raised = self.parting is None
        what = "raises" if raised else place.operator or "return"
        row = OperatorRow(
            "first",
            what if place.eager or not raised else "",
            what if place.here or not raised else "",
            place.eager,
            place.here,
            f"{pathlib.PurePath(place.file).name}:{place.line}" if place.line else "",
            place.code,
        )
        self._group(key).append(row)

    def rows(self) -> list[ModuleRow]:
        found = []
        for (call, part, name, number), operators in self.groups.items():
            states = {row.state for row in operators} or {"equal"}
            state = next(each for each in _WORST if each in states)
            if state in ("absent", "added") and len(states) > 1:
                state = "different" if self.same_operators else "not compared"
            found.append(ModuleRow(call, name, number, part, state, tuple(operators)))
        return found

    def _group(self, key: _Key) -> list[OperatorRow]:
        """Return the operators of a call of a module; what contains the module comes before it."""
        call, part, name, _ = self._last = key
        if part != "results":
            parts = name.split(".") if name else []
            for depth in range(len(parts)):
                above = ".".join(parts[:depth])
                if not any(each[:3] == (call, part, above) for each in self.groups):
                    self.groups[call, part, above, 1] = []
        return self.groups.setdefault(key, [])

    def _key(self, event: LogEntry) -> _Key:
        if event.name:
            return event.call, "results", "", 1
        module = event.place.module
        if module is None:
            call, part, name, number = self._last
            same = call == event.call and part != "results"
            return (call, part, name, number) if same else (event.call, "forward", "", 1)
        first = (self.eager.first or {}).get(module, module)
        return event.call, "backward" if event.backward else "forward", first, event.place.module_call or 1

    def _state(self, one: LogEntry | None, other: LogEntry | None) -> State:
        if self._is_first(one, other):
            return "first"
        if one is None:
            return "added" if self.same_operators else "not compared"
        if one.index in self.matching.same:
            return "equal"
        if one.index in self.matching.unknown or not (one.values or other is None):
            return "not compared"
        if not self.same_operators and (other is None or not self.marked):
            return "not compared"
        return "absent" if other is None else "different"

    def _is_first(self, one: LogEntry | None, other: LogEntry | None) -> bool:
        parting = self.parting
        if parting is None or self.marked:
            return False
        wanted = parting.eager or parting.here
        return wanted is not None and (one if parting.eager is not None else other) is wanted

    def _row(self, state: State, one: LogEntry | None, other: LogEntry | None) -> OperatorRow:
        event = one or other
        assert event is not None, "a step is on one side at least"
        place = event.place
        ours, theirs = _values(one, other)
        if state == "first":
            ours, theirs = self.place.eager, self.place.here
        return OperatorRow(
            state,
            _name(one),
            _name(other),
            ours,
            theirs,
            f"{pathlib.PurePath(place.file).name}:{place.line}" if place.file and place.line else "",
            linecache.getline(place.file, place.line).strip() if place.file and place.line else "",
        )


def _name(event: LogEntry | None) -> str:
    return "" if event is None else event.name or event.short_operator


def _values(one: LogEntry | None, other: LogEntry | None) -> tuple[str, str]:
    ours, theirs = (event.values if event is not None else () for event in (one, other))
    for a, b in zip(ours, theirs, strict=False):
        if not a.equals(b):
            return in_words(a, b)
    return (str(ours[0]) if ours else ""), (str(theirs[0]) if theirs else "")


def _bounded(rows: list[ModuleRow]) -> SideBySide:
    """Keep what is near the first difference, and count the rest."""
    center = next((at for at, row in enumerate(rows) if row.state == "first"), 0)
    start = max(0, min(center - MODULES // 2, len(rows) - MODULES))
    kept = rows[start : start + MODULES]
    center -= start
    left = OPERATORS
    dropped = sum(len(row.operators) for row in rows) - sum(len(row.operators) for row in kept)
    for at in sorted(range(len(kept)), key=lambda each: abs(each - center)):
        shown = _nearest(kept[at].operators, left)
        left -= len(shown)
        lost = len(kept[at].operators) - len(shown)
        dropped += lost
        kept[at] = replace(kept[at], operators=shown, left_out=lost)
    return SideBySide(tuple(kept), len(rows) - len(kept), dropped)


def _nearest(rows: tuple[OperatorRow, ...], most: int) -> tuple[OperatorRow, ...]:
    center = next((at for at, row in enumerate(rows) if row.state == "first"), 0)
    start = max(0, min(center - most // 2, len(rows) - most))
    return rows[start : start + most]

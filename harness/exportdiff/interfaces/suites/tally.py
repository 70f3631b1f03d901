"""What became of the calls of a test suite: equal calls are one row, and rows are counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.suites.judged_call import CALL_OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.suites.judged_call import CallOutcome, JudgedCall

FORMAT = 1
"""The version of the JSON document: interfaces/schemas/judge-1.schema.json."""


@dataclass(frozen=True)
class Row:
    """Equal calls."""

    call: JudgedCall
    """The one that was judged."""
    times: int
    tests: tuple[str, ...]
    """The tests that made them."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {**self.call.as_dict(), "times": self.times, "tests": list(self.tests)}


@dataclass(frozen=True)
class SuiteTally:
    """All calls of a test suite."""

    rows: tuple[Row, ...]

    @property
    def calls(self) -> int:
        """How many calls the suite made."""
        return sum(each.times for each in self.rows)

    def of(self, outcome: CallOutcome) -> tuple[Row, ...]:
        """Return the rows with this outcome."""
        return tuple(each for each in self.rows if each.call.outcome == outcome)

    @property
    def judged(self) -> int:
        """How many different calls were judged; a call that torch refused was."""
        return len(self.rows) - len(self.of("not judged"))

    @property
    def reasons(self) -> Counter[str]:
        """How many different calls were not judged, for each reason."""
        return Counter(why.reason for each in self.rows if (why := each.call.why_not) is not None)

    def found(self) -> Iterable[tuple[Row, Found]]:
        """Yield each finding."""
        for row in self.rows:
            if row.call.report is not None:
                yield from ((row, each) for each in row.call.report.found)

    def exit_code(self, fail_on: FailOn) -> int:
        """Return 1 if a finding fails, 2 if nothing was judged, else 0."""
        if any(found.fails(fail_on) for _, found in self.found()):
            return 1
        return 0 if self.judged else 2

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "format": FORMAT,
            "torch": version("torch"),
            "calls": self.calls,
            "different": len(self.rows),
            "judged": self.judged,
            "outcomes": {outcome: len(self.of(outcome)) for outcome in CALL_OUTCOMES},
            "not_judged": dict(self.reasons.most_common()),
            "rows": [each.as_dict() for each in self.rows],
        }


def tally(calls: Iterable[JudgedCall]) -> SuiteTally:
    """Count calls; those that are equal become one row, in the order of their places."""
    groups: dict[str, list[JudgedCall]] = {}
    for number, call in enumerate(calls):
        key = call.subject.key if call.subject is not None else f"unknown {number}"
        groups.setdefault(key, []).append(call)
    rows = (_row(group) for group in groups.values())
    return SuiteTally(tuple(sorted(rows, key=lambda row: (row.call.place.file, row.call.place.line))))


def _row(group: list[JudgedCall]) -> Row:
    judged = next((each for each in group if not each.again), group[0])
    tests = dict.fromkeys(each.place.test for each in group if each.place.test)
    return Row(judged, len(group), tuple(tests))

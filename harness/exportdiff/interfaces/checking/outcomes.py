"""What the outcomes of all paths and the findings mean together.

The exit code, the numbers of the summary, and the statuses in JSON, JUnit and SARIF are computed here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from exportdiff.interfaces.wording import counted
from exportdiff.judging.results import OUTCOMES

if TYPE_CHECKING:
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.found import FailOn, Found, Property
    from exportdiff.judging.results import Outcome, Status

CaseResult: TypeAlias = Literal["passed", "failure", "skipped"]
"""The result of a path as a test case of a CI system."""


@dataclass(frozen=True)
class PathOutcome:
    """One path that was asked for: its outcome, and the findings that show on it."""

    path: Path
    status: Status | Literal["unjudged"]
    outcome: Outcome
    reason: str = ""
    """Why it was refused or not judged, or how its process died, in a few words."""
    message: str = ""
    """What torch said, or the first line of its first finding."""
    excused: tuple[str, ...] = ()
    """The documented limits that differences fall under."""
    source: str = ""
    """If it was refused: where torch documents that."""
    first_call_because: str = ""
    """Why only the first call was compared; empty: all were, or none."""
    found: tuple[Found, ...] = ()

    @property
    def calls(self) -> Literal["all", "first", "none"]:
        """Which calls were compared."""
        if self.outcome in ("refused", "not judged"):
            return "none"
        return "first" if self.first_call_because else "all"

    @property
    def compared(self) -> bool:
        """Whether it can make a model pass: it agrees, or the report shows in what it differs."""
        return self.outcome == "agrees" or (self.outcome == "differs" and bool(self.found))

    def agrees_on(self, what: Property) -> bool:
        """Whether its calls were compared, and no finding is about this property."""
        crashed = any(each.finding.kind != "mismatch" for each in self.found)
        return self.calls != "none" and not crashed and all(each.about != what for each in self.found)

    def failing(self, fail_on: FailOn) -> tuple[Found, ...]:
        """Return its findings that fail."""
        return tuple(each for each in self.found if each.fails(fail_on))

    def case_result(self, fail_on: FailOn) -> CaseResult:
        """Return its result for CI systems: a path that was not compared did not pass."""
        if self.failing(fail_on):
            return "failure"
        return "passed" if self.compared else "skipped"

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "status": self.status,
            "outcome": self.outcome,
            "reason": self.reason,
            "message": self.message,
            "excused": list(self.excused),
            "calls": self.calls,
        }


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of all paths that were asked for, and all findings."""

    paths: tuple[PathOutcome, ...]
    found: tuple[Found, ...]
    ended: str = ""
    """What ended judging before the last path, or before the first: then no path can make the model pass."""

    @property
    def judged(self) -> bool:
        """Whether the model may pass: a path was compared, and judging did not end early."""
        return not self.ended and any(each.compared for each in self.paths)

    def failing(self, fail_on: FailOn) -> tuple[Found, ...]:
        """Return the findings that fail."""
        return tuple(each for each in self.found if each.fails(fail_on))

    def exit_code(self, fail_on: FailOn) -> int:
        """Return 1 if a finding fails, 2 if the model was not judged, else 0."""
        if self.failing(fail_on):
            return 1
        return 0 if self.judged else 2

    def of(self, outcome: Outcome) -> tuple[PathOutcome, ...]:
        """Return the paths with this outcome."""
        return tuple(each for each in self.paths if each.outcome == outcome)

    @property
    def later_calls(self) -> tuple[str, ...]:
        """A sentence for each reason why later calls were not compared."""
        reasons = Counter(each.first_call_because for each in self.paths if each.calls == "first")
        return tuple(
            f"Later calls were not compared on {counted(number, 'path')}: {because}."
            for because, number in reasons.items()
        )

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many paths have each outcome."""
        return {outcome: len(self.of(outcome)) for outcome in OUTCOMES}

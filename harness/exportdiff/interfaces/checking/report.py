"""The report on one model: the result of each path, and all findings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.given import NOTHING
from exportdiff.interfaces.checking.outcomes import Outcomes, PathOutcome
from exportdiff.interfaces.wording import counted
from exportdiff.judging.results import Unjudged
from exportdiff.runtime.paths.backends import product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.core.model_identity import ModelIdentity
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.found import FailOn
    from exportdiff.interfaces.checking.given import Given
    from exportdiff.judging.results import PathResult
    from exportdiff.runtime.observing.sizes import DynamicDimension


FORMAT = 1
"""The version of the JSON document: interfaces/schemas/check-1.schema.json."""


@dataclass(frozen=True)
class Report:
    """The result of judging one model. Plain data."""

    name: str
    """The name of the model, as the user wrote it."""
    torch: str
    """The version of torch."""
    paths: tuple[PathResult, ...] = ()
    """The results of the paths that ran or that torch refused."""
    unjudged: tuple[Unjudged, ...] = ()
    """The other paths, each with the reason."""
    found: tuple[Found, ...] = ()
    invalid: str = ""
    """Why the model cannot be judged on any path; empty: it can."""
    unconfirmed: int = 0
    """How many differences a second process did not show."""
    stopped: str = ""
    """Why judging ended early: the time limit or an interruption. Empty: it did not end early."""
    model: ModelIdentity | None = None
    """Which model it is; None if it was not built."""
    given: Given = NOTHING
    """What the user gave besides the model."""
    notes: tuple[str, ...] = ()
    """What a reader must know about these files, each a sentence."""

    @property
    def outcomes(self) -> Outcomes:
        """The outcome of each path, and what they mean together."""
        ran = (
            PathOutcome(
                each.path,
                each.status,
                each.outcome,
                each.reason,
                each.message,
                each.excused,
                each.source,
                each.first_call_because,
                tuple(found for found in self.found if each.path in found.finding.shown_on),
            )
            for each in self.paths
        )
        left = (
            PathOutcome(each.path, "unjudged", "not judged", each.reason, each.reason)
            for each in self.unjudged
        )
        return Outcomes((*ran, *left), self.found, self.invalid or self.stopped)

    @property
    def judged(self) -> bool:
        """Whether eager was compared with at least one path, and judging did not end early."""
        return self.outcomes.judged

    def with_found(self, found: tuple[Found, ...]) -> Report:
        """Return the report with other findings."""
        return replace(self, found=found)

    def failing(self, fail_on: FailOn = "any") -> tuple[Found, ...]:
        """Return the findings that fail."""
        return self.outcomes.failing(fail_on)

    def exit_code(self, fail_on: FailOn = "any") -> int:
        """Return 1 if a finding fails, 2 if the model was not judged, else 0."""
        return self.outcomes.exit_code(fail_on)

    def why_unjudged(self) -> str:
        """Return a line about why the model was not judged; empty if it was."""
        outcomes = self.outcomes
        if outcomes.judged or outcomes.ended:
            return outcomes.ended
        refused, left = outcomes.of("refused"), outcomes.of("not judged")
        if refused:
            where = f"{counted(len(refused), 'path')}" if left else "all paths that were tried"
            refuses = f"{product(refused[0].path.mode)} refuses it"
            return f"{refuses} on {where}: {_lines(refused[0].message)[0]}"
        if left:
            return f"no path can judge it: {left[0].reason}"
        return "no finding is listed for the paths that differ" if outcomes.paths else "no path was chosen"

    def agreement(self) -> str:
        """Return how many paths agree with eager, for example ``3 of 9 paths agree with eager``."""
        outcomes = self.outcomes
        paths = counted(len(outcomes.paths), "path")
        verb = "agrees" if len(outcomes.paths) == 1 else "agree"
        return f"{outcomes.counts['agrees']} of {paths} {verb} with eager"

    @property
    def sizes(self) -> tuple[DynamicDimension, ...]:
        """What was declared for each dynamic dimension, and what the program and eager accept."""
        return next((each.sizes for each in self.paths if each.sizes), ())

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        outcomes = self.outcomes
        return {
            "format": FORMAT,
            "name": self.name,
            "torch": self.torch,
            "judged": outcomes.judged,
            "reason": self.why_unjudged(),
            "outcomes": outcomes.counts,
            "later_calls": list(outcomes.later_calls),
            "paths": {str(each.path): each.as_dict() for each in outcomes.paths},
            "findings": [each.as_dict() for each in self.found],
            "unconfirmed": self.unconfirmed,
            "sizes": [each.as_dict() for each in self.sizes],
            "options": list(self.given.options),
            "notes": list(self.notes),
        }


def _lines(message: str) -> tuple[str, ...]:
    return tuple(filter(str.strip, message.splitlines())) or ("",)


def assembled(
    name: str,
    asked: Sequence[Path],
    paths: tuple[PathResult, ...] = (),
    findings: Sequence[Finding] = (),
    unjudged: tuple[Unjudged, ...] = (),
    *,
    invalid: str = "",
    stopped: str = "",
) -> Report:
    """Make the report on one pass over the paths; its findings are neither confirmed nor explained.

    A path of ``asked`` that is in neither list was not judged, for the reason that ended the pass.
    """
    known = {*(each.path for each in paths), *(each.path for each in unjudged)}
    left = tuple(Unjudged(path, invalid or stopped) for path in asked if path not in known)
    found = tuple(map(Found, findings))
    return Report(name, version("torch"), paths, (*unjudged, *left), found, invalid, stopped=stopped)

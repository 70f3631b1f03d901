"""The report on one model: the result of each path, and what every finding means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import DEPLOYED
from exportdiff.interfaces.wording import counted
from exportdiff.judging.results import Unjudged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.judging.results import PathResult
    from exportdiff.known.attribution.explained import RootCause

Meaning: TypeAlias = Literal["wrong", "breaks", "inside", "harmless"]
"""What a finding means for the owner of the model.

``wrong``: without an error, the caller gets another result, or the model, the inputs or a setting such as
grad mode are changed.
``breaks``: an exception, or the end of the process.
``inside``: results are right, but the exported program differs from eager where callers do not see it.
``harmless``: like ``inside``, and the corpus explains the finding.
"""

FailOn: TypeAlias = Literal["any", "new", "silent"]
"""Which findings fail. ``any``: all that are not harmless; ``new``: of these, findings that the corpus does
not explain, or that were not looked for to the end; ``silent``: findings that are wrong without an error."""

Explanation: TypeAlias = Literal["known", "new", "not explained"]
"""``known``: the corpus explains a finding. ``new``: it does not. ``not explained``: the search ended early,
for example at a time limit."""

FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)


def read_fail_on(argument: str, text: str) -> FailOn:
    """Return the text of an argument if it is allowed. Raises UsageError."""
    for each in FAIL_ON:
        if each == text:
            return each
    raise UsageError(f"{argument}: {text!r} is none of {', '.join(FAIL_ON)}")


MORE_LINES = 6
"""How many lines of a refusal are printed: the first one may only say which constraint is violated."""

INSIDE = frozenset({"structure", "fake"})
"""The checks of what callers of an exported model do not see."""


@dataclass(frozen=True)
class Found:
    """A finding on the paths that have the same root causes, and its explanation."""

    finding: Finding
    causes: tuple[RootCause, ...] = ()
    """The known bugs of torch that explain it."""
    remark: str = ""
    """Why the explanation may be incomplete, for example a time limit."""
    searched: bool = True
    """Whether the search for its causes came to its end."""
    accepted: bool = False
    """Whether the baseline accepts it."""

    @property
    def known(self) -> bool:
        """Whether the corpus explains it."""
        return bool(self.causes)

    @property
    def explanation(self) -> Explanation:
        """What the search in the corpus gave."""
        if self.causes:
            return "known"
        return "new" if self.searched else "not explained"

    @property
    def deployed(self) -> bool:
        """Whether it shows on a path that people deploy."""
        return any(path.without_device in DEPLOYED for path in self.finding.shown_on)

    @property
    def meaning(self) -> Meaning:
        """What it means for the owner of the model."""
        if self.finding.kind != "mismatch":
            return "breaks"
        if self.finding.check not in INSIDE and not self.finding.evidence.inside:
            return "wrong"
        return "harmless" if self.known else "inside"

    def fails(self, fail_on: FailOn) -> bool:
        """Whether it makes the result fail."""
        if self.accepted or self.meaning == "harmless":
            return False
        if fail_on == "silent":
            return self.meaning == "wrong"
        return fail_on == "any" or not self.known

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            **self.finding.as_dict(),
            "meaning": self.meaning,
            "deployed": self.deployed,
            "known": self.known,
            "explanation": self.explanation,
            "accepted": self.accepted,
            "root_causes": [cause.root for cause in self.causes],
            "entries": [cause.entry for cause in self.causes if cause.entry],
            "remark": self.remark,
        }


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

    @property
    def judged(self) -> bool:
        """Whether eager was compared with at least one path, and judging did not end early."""
        return (
            not self.invalid and not self.stopped and any(each.status != "unsupported" for each in self.paths)
        )

    def with_found(self, found: tuple[Found, ...]) -> Report:
        """Return the report with other findings."""
        return replace(self, found=found)

    def failing(self, fail_on: FailOn = "any") -> tuple[Found, ...]:
        """Return the findings that fail."""
        return tuple(each for each in self.found if each.fails(fail_on))

    def exit_code(self, fail_on: FailOn = "any") -> int:
        """Return 1 if a finding fails, 2 if the model was not judged, else 0."""
        if self.failing(fail_on):
            return 1
        return 0 if self.judged else 2

    def why_unjudged(self) -> str:
        """Return a line about why the model was not judged; empty if it was."""
        if self.judged:
            return ""
        if self.invalid or self.stopped:
            return self.invalid or self.stopped
        if self._refusal:
            return f"torch refuses it on all paths that were tried: {self._refusal[0]}"
        if self.unjudged:
            return f"no path can judge it: {self.unjudged[0].reason}"
        return "no path was chosen"

    def agreement(self) -> str:
        """Return how many paths agree with eager, for example ``3 of 9 paths agree with eager``."""
        agree = sum(each.status == "ok" for each in self.paths)
        return f"{agree} of {counted(len(self.paths), 'path')} agree with eager"

    def more_of_refusal(self) -> tuple[str, ...]:
        """Return the lines of the refusal that follow the one in ``why_unjudged``."""
        return () if self.judged or self.invalid or self.stopped else self._refusal[1:MORE_LINES]

    @property
    def _refusal(self) -> tuple[str, ...]:
        refused = next((each for each in self.paths if each.status == "unsupported"), None)
        return () if refused is None else tuple(filter(str.strip, refused.message.splitlines()))

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        ran = {
            str(each.path): _path_document(each.status, each.reason, each.message, each.excused)
            for each in self.paths
        }
        left = {
            str(each.path): _path_document("unjudged", each.reason, each.reason, ()) for each in self.unjudged
        }
        return {
            "name": self.name,
            "torch": self.torch,
            "judged": self.judged,
            "reason": self.why_unjudged(),
            "paths": {**ran, **left},
            "findings": [each.as_dict() for each in self.found],
            "unconfirmed": self.unconfirmed,
        }


def _path_document(status: str, reason: str, message: str, excused: Sequence[str]) -> dict[str, object]:
    return {"status": status, "reason": reason, "message": message, "excused": list(excused)}


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

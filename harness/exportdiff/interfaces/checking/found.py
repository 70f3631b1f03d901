"""A finding on one model: what it means for the owner of the model, and whether it fails."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.checking.default_paths import DEPLOYED
from exportdiff.runtime.paths import loads
from exportdiff.runtime.paths.backends import product

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.known.attribution.explained import By, KnownCause

Meaning: TypeAlias = Literal["wrong", "breaks", "inside", "harmless"]
"""What a finding means for the owner of the model.

``wrong``: without an error, the caller gets another result, or the model, the inputs or a setting such as
grad mode are changed.
``breaks``: an exception, or the end of the process.
``inside``: results are right, but the exported program differs from eager where callers do not see it.
``harmless``: like ``inside``, and the corpus explains the finding.
"""

Property: TypeAlias = Literal["values", "metadata", "structure"]
"""What a difference is about: what callers compute with, the metadata of tensors, or the program's names,
modules and graphs."""

PROPERTIES: tuple[Property, ...] = get_args(Property)

_OF_STRUCTURE = frozenset({"structure", "sharing"})
_OF_CALLS = frozenset({"outputs", "inputs", "state", "aliasing", "gradients", "alive"})

FailOn: TypeAlias = Literal["any", "new", "silent"]
"""Which findings fail. ``any``: all that are not harmless; ``new``: of these, findings that the corpus does
not explain, or was not asked about to the end; ``silent``: findings that are wrong without an error."""

Explanation: TypeAlias = Literal["known", "new", "not explained"]
"""``known``: the corpus explains a finding. ``new``: it does not. ``not explained``: the search ended early,
for example at a time limit."""

SURE: dict[By, str] = {"fix": "goes away with a fix of", "resemblance": "resembles"}
"""How sure it is that a known bug explains a finding."""
UNDECIDED = "goes away with several fixes; which of them are necessary was not found in time"

FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)


def read_fail_on(argument: str, text: str) -> FailOn:
    """Return the text of an argument if it is allowed. Raises UsageError."""
    for each in FAIL_ON:
        if each == text:
            return each
    raise UsageError(f"{argument}: {text!r} is none of {', '.join(FAIL_ON)}")


INSIDE = frozenset({"structure", "fake"})
"""The checks of what callers of an exported model do not see."""


@dataclass(frozen=True)
class Found:
    """A finding on the paths that have the same root causes, and its explanation."""

    finding: Finding
    causes: tuple[KnownCause, ...] = ()
    """The known bugs of torch that explain it."""
    by: By = "fix"
    """How sure that is: whether the finding goes away with the fix of a bug, or resembles its entry."""
    remark: str = ""
    """Why the explanation may be incomplete, for example a time limit."""
    searched: bool = True
    """Whether the search for its causes came to its end."""
    accepted: bool = False
    """Whether the baseline accepts it."""
    not_accepted_because: str = ""
    """Why the baseline does not accept it, if it has an entry about such a finding."""

    def at(self, place: FirstDifference | None) -> Found:
        """Return it with the place at which its path first differs from eager."""
        return replace(self, finding=replace(self.finding, first_difference=place))

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
        """Whether it shows on a path that people deploy; all paths of backends are."""
        return any(
            loads(path) or product(path.mode) != "torch" or path.without_device in DEPLOYED
            for path in self.finding.shown_on
        )

    @property
    def meaning(self) -> Meaning:
        """What it means for the owner of the model."""
        if self.finding.kind != "mismatch":
            return "breaks"
        if self.finding.check not in INSIDE and not self.finding.evidence.inside:
            return "wrong"
        return "harmless" if self.known else "inside"

    @property
    def named(self) -> tuple[KnownCause, ...]:
        """The known bugs by name: each root cause once."""
        return tuple({each.root: each for cause in self.causes for each in cause.named}.values())

    @property
    def decided(self) -> bool:
        """Whether all of ``named`` are necessary; else one or several of them explain the finding."""
        return all(not cause.candidates for cause in self.causes)

    @property
    def workarounds(self) -> tuple[str, ...]:
        """What a user can write instead: a text for each root cause for which somebody has looked."""
        bugs = [cause.bug for cause in self.causes if cause.bug is not None]
        return tuple(bug.workaround.text for bug in bugs if bug.workaround is not None)

    @property
    def about(self) -> Property | None:
        """What differs; None: something else, such as a guard or a setting of the process."""
        finding = self.finding
        if finding.check in _OF_STRUCTURE:
            return "structure"
        if finding.check == "fake" or finding.evidence.aspect not in ("", "value"):
            return "metadata"
        return "values" if finding.check in _OF_CALLS else None

    def fails(self, fail_on: FailOn) -> bool:
        """Whether it makes the result fail."""
        if self.accepted or self.meaning == "harmless":
            return False
        if fail_on == "silent":
            return self.meaning == "wrong"
        return fail_on == "any" or not self.known

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        place = self.finding.first_difference
        return {
            **self.finding.as_dict(),
            "meaning": self.meaning,
            "deployed": self.deployed,
            "known": self.known,
            "explanation": self.explanation,
            "accepted": self.accepted,
            "not_accepted_because": self.not_accepted_because,
            "root_causes": [cause.root for cause in self.named],
            "entries": [cause.entry for cause in self.named if cause.entry],
            "known_bugs": [self._bug(cause) for cause in self.named],
            "workaround": "\n".join(self.workarounds) or None,
            "remark": self.remark,
            "first_difference": place.as_dict() if place is not None else None,
        }

    def _bug(self, cause: KnownCause) -> dict[str, Any]:
        bug = cause.bug
        workaround = bug.workaround.text if bug is not None and bug.workaround is not None else None
        return {
            "name": cause.root,
            "sure": SURE[self.by] if self.decided else UNDECIDED,
            **(bug.as_dict() if bug is not None else {}),
            "workaround": workaround,
        }

"""The result of judging one call of a test suite. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from exportdiff.interfaces.checking.report import Report

CallOutcome: TypeAlias = Literal["new", "not explained", "known", "agrees", "refused", "not judged"]
"""``new``: a finding that the corpus does not explain. ``not explained``: a finding, and the time was over
before the corpus was searched. ``known``: findings that the corpus explains. ``agrees``, ``refused``, ``not
judged``: as for a path."""

CALL_OUTCOMES: tuple[CallOutcome, ...] = get_args(CallOutcome)

Reason: TypeAlias = Literal[
    "the model is not an nn.Module",
    "no values: fake, meta or uninitialized tensors",
    "made with fake_tensor_propagate_real_tensors, which is for debugging",
    "the model or its inputs cannot be copied",
    "the arguments are not those of an export",
    "torch.onnx.export without dynamo uses TorchScript",
    "a package is missing",
    "tensors on CUDA: the copy of a process cannot use them",
    "eager raises, or disagrees with itself",
    "no path can judge it",
    "the time limit was reached",
    "its process ended",
    "an error of exportdiff",
]
"""Why a call was not judged."""


@dataclass(frozen=True)
class Place:
    """Where a suite made a call."""

    api: str
    file: str
    line: int
    test: str = ""
    """The test that was running; empty: no test, or not pytest."""


@dataclass(frozen=True)
class Unjudgeable:
    """Why a call was not judged."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True)
class Subject:
    """What was exported: calls with the same key are judged once."""

    key: str
    model: str
    """The class of the model, with the function in which it is defined."""
    inputs: str
    """The types and shapes of the inputs."""


@dataclass(frozen=True)
class JudgedCall:
    """One call, and what became of it."""

    place: Place
    subject: Subject | None
    """None: its process ended before it was known."""
    report: Report | None = None
    """None: it was not judged, or an equal call was judged before."""
    unjudgeable: Unjudgeable | None = None
    again: bool = False
    """Whether an equal call was judged before."""
    seconds: float = 0.0

    @property
    def outcome(self) -> CallOutcome:
        """What was learned about it."""
        if self.report is None:
            return "not judged"
        explanations = {each.explanation for each in self.report.found}
        for each in CALL_OUTCOMES[:3]:
            if each in explanations:
                return each
        outcomes = self.report.outcomes
        if outcomes.judged:
            return "agrees"
        return "refused" if outcomes.of("refused") and not outcomes.ended else "not judged"

    @property
    def why_not(self) -> Unjudgeable | None:
        """Why it was not judged; None if it was."""
        if self.outcome != "not judged":
            return None
        if self.unjudgeable is not None or self.report is None:
            return self.unjudgeable
        why = self.report.why_unjudged()
        if self.report.outcomes.ended:
            return Unjudgeable("eager raises, or disagrees with itself", why)
        return Unjudgeable("no path can judge it", why)

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        why = self.why_not
        report = self.report.as_dict() if self.report is not None else {}
        return {
            "api": self.place.api,
            "file": self.place.file,
            "line": self.place.line,
            "model": self.subject.model if self.subject is not None else "",
            "inputs": self.subject.inputs if self.subject is not None else "",
            "outcome": self.outcome,
            "reason": why.reason if why is not None else "",
            "detail": why.detail if why is not None else "",
            "seconds": round(self.seconds, 2),
            "paths": report.get("paths", {}),
            "findings": report.get("findings", []),
        }

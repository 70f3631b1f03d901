"""The result of judging, as plain data. Nothing here imports torch, so commands can print it quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.sizes import DynamicDimension

Status = Literal["ok", "unsupported", "finding"]
"""What a path showed, as campaigns count it."""

Outcome = Literal["agrees", "differs", "refused", "not judged"]
"""What was learned about a path. Each path has exactly one outcome.

``agrees``: calls were compared, and nothing differs except what a documented limit excuses.
``differs``: it differs from eager, or it crashes where eager does not.
``refused``: torch ended it, and documents that it does not support this.
``not judged``: nothing was compared.
"""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class PathResult:
    """The result of one path."""

    path: Path
    status: Status
    reason: str = ""
    """If it was refused: the short name of the refusal or limit, or the name of the fix that declares it. For
    a process that died: how. If it was not judged: why. Else empty."""
    excused: tuple[str, ...] = ()
    """The names of the documented limits that differences of this path fall under."""
    message: str = ""
    """If it was refused: what torch said, its first lines. For a finding: its headline. Else empty."""
    first_call_because: str = ""
    """Why only the first call was compared; empty if all were, or if torch refused the model."""
    outcome: Outcome = "not judged"
    source: str = ""
    """If it was refused: where torch documents that. Else empty."""
    sizes: tuple[DynamicDimension, ...] = ()
    """What was declared for each dynamic dimension, and what the program and eager accept; on one path."""

    def as_dict(self) -> dict[str, Any]:
        """Return the result ready for JSON."""
        return {
            "path": str(self.path),
            "status": self.status,
            "outcome": self.outcome,
            "reason": self.reason,
            "excused": list(self.excused),
        }


@dataclass(frozen=True)
class Unjudged:
    """A path on which nothing was compared."""

    path: Path
    reason: str
    """Why, for people."""


@dataclass(frozen=True)
class Verdict:
    """The result of one case over all paths and checks. Plain data."""

    valid: bool
    invalid_reason: str
    paths: tuple[PathResult, ...]
    findings: tuple[Finding, ...]
    torch_seconds: float
    """Time spent inside torch: exporting, lowering, running."""
    unjudged: tuple[Unjudged, ...] = ()
    """The paths that were asked for and are not in ``paths``."""

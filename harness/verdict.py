"""One Case over all paths and checks: the Verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from harness.case import Case
    from harness.findings import Finding
    from harness.paths import Path

Status = Literal["ok", "unsupported", "finding"]


@dataclass(frozen=True)
class PathResult:
    """How one path fared."""

    path: str
    status: Status
    reason: str = ""
    """For ``unsupported``: the short name of the refusal."""


@dataclass(frozen=True)
class Verdict:
    """What the harness has to say about one case. Plain data."""

    valid: bool
    invalid_reason: str
    paths: tuple[PathResult, ...]
    findings: tuple[Finding, ...]
    torch_seconds: float
    """Time spent inside torch: exporting, lowering, running."""


def judge(case: Case, paths: Sequence[Path], checks: Sequence[str] | None = None) -> Verdict:
    """Run ``case`` eagerly and along every path; compare what was observed."""
    raise NotImplementedError

"""A finding with the root causes that explain it, as plain data. Nothing here imports torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path


@dataclass(frozen=True)
class RootCause:
    """A known root cause."""

    name: str
    """The name of the fix that mends the finding; of the entry that it resembles, where that has no fix."""
    entry: str = ""
    """The corpus entry of the root cause; empty: no entry names the fix."""

    @property
    def root(self) -> str:
        """The name of the root cause: several fixes, each for one place, may have one."""
        return self.entry or self.name


UNRESOLVED = RootCause("several fixes")
"""The attribution ended before it was known which of several fixes a finding takes."""


By: TypeAlias = Literal["fix", "resemblance"]
"""``fix``: the finding is gone while the fix is in place. ``resemblance``: it looks as an entry does that no
fix mends on this torch."""


@dataclass(frozen=True)
class ExplainedFinding:
    """A finding on those of its paths that have the same causes."""

    finding: Finding
    causes: tuple[RootCause, ...] = ()
    """Empty: the finding is new."""
    remark: str = ""
    """Why the causes are not the whole answer: the attribution ran out of time."""
    by: By = "fix"
    """How it was found out."""


def on_paths(finding: Finding, paths: tuple[Path, ...]) -> Finding:
    """Return a finding on some of its paths alone."""
    return finding if paths == finding.shown_on else replace(finding, path=paths[0], shown_on=paths)

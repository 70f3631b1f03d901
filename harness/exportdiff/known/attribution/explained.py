"""A finding with the root causes that explain it, as plain data. This module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.core.path import Path
    from exportdiff.known.corpus.known_bug import KnownBug


@dataclass(frozen=True)
class KnownCause:
    """A known root cause."""

    name: str
    """The name of the fix that mends the finding, or of an entry without a fix that the finding resembles."""
    entry: str = ""
    """The corpus entry of the root cause; empty: no entry names the fix."""
    bug: KnownBug | None = field(default=None, compare=False, repr=False)
    """What its entry says about it; None without an entry."""
    candidates: tuple[KnownCause, ...] = field(default=(), compare=False, repr=False)
    """Of ``UNRESOLVED``: the root causes of which one or several explain the finding."""

    @property
    def root(self) -> str:
        """The name of the root cause; several fixes may belong to one."""
        return self.entry or self.name

    @property
    def named(self) -> tuple[KnownCause, ...]:
        """The root cause, or those of which one or several explain the finding."""
        return self.candidates or (self,)


UNRESOLVED = KnownCause("undecided")
"""The attribution ended before it was known which of its ``candidates`` are necessary."""


By: TypeAlias = Literal["fix", "resemblance"]
"""``fix``: the finding is gone while the fix is installed. ``resemblance``: the finding looks like an entry
that no fix mends on this torch."""


@dataclass(frozen=True)
class ExplainedFinding:
    """A finding, on the paths that have the same causes."""

    finding: Finding
    causes: tuple[KnownCause, ...] = ()
    """Empty: the finding is new, or the search for its causes ended early."""
    remark: str = ""
    """Why the answer is not complete: the attribution ran out of time."""
    by: By = "fix"
    """How the causes were found."""
    searched: bool = True
    """Whether the search for its causes came to its end."""


def on_paths(finding: Finding, paths: tuple[Path, ...]) -> Finding:
    """Return a finding on some of its paths only."""
    return finding if paths == finding.shown_on else finding.showing(map(finding.on, paths))

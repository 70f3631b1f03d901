"""The steps of judging a model, as plain data for progress reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from exportdiff.core.model_identity import ModelIdentity
    from exportdiff.interfaces.checking.found import Found
    from exportdiff.judging.results import PathResult


@dataclass(frozen=True)
class NotesRead:
    """The files of the user were read."""

    notes: tuple[str, ...]
    """What a reader of the report must know about them, each a sentence."""


@dataclass(frozen=True)
class PathDone:
    """A path was judged."""

    result: PathResult


@dataclass(frozen=True)
class Confirming:
    """A second process judges the paths that show differences."""

    findings: int


@dataclass(frozen=True)
class Explaining:
    """exportdiff tries which findings the known bugs of the corpus explain."""

    findings: int


@dataclass(frozen=True)
class FindingConfirmed:
    """A second process shows a finding as well. It is not explained yet."""

    found: Found
    model: ModelIdentity | None


@dataclass(frozen=True)
class FindingExplained:
    """exportdiff has looked for a finding in the corpus."""

    found: Found
    """The finding, as it was confirmed."""
    parts: tuple[Found, ...]
    """The finding with its causes; several parts if some of its paths have other causes."""
    model: ModelIdentity | None


CheckStep: TypeAlias = NotesRead | PathDone | Confirming | FindingConfirmed | Explaining | FindingExplained

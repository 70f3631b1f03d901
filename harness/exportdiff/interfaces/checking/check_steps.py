"""The steps of judging a model, as plain data for progress reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from exportdiff.judging.results import PathResult


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


CheckStep: TypeAlias = PathDone | Confirming | Explaining

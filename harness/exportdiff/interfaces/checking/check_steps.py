"""What happens while a model is judged: plain data for whoever shows it."""

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
    """The corpus is asked which findings are known bugs of torch."""

    findings: int


Step: TypeAlias = PathDone | Confirming | Explaining

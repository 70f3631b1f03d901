"""The files of a campaign with ``--near``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exportdiff.core.path import Path


@dataclass(frozen=True)
class NearFile:
    """One program that shows a bug."""

    name: str
    """The name of its file, without ``.py``."""
    source: str
    """The text that defines ``make()``."""
    path: Path | None
    """The path that shows the bug; None if the file has no header."""
    weight: int = 1
    """How often it is drawn, relative to the others."""


@dataclass(frozen=True)
class Near:
    """Plain data: it is part of a campaign's settings, so a resumed campaign has the same texts."""

    files: tuple[NearFile, ...]
    written: str = ""
    """The files as the user named them, for a shell; empty: the whole corpus."""

"""What a tag is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exportdiff_strategies.tags.analysis import Analysis

Detector = Callable[[Analysis], bool]
"""Whether a Program has a tag."""


@dataclass(frozen=True, slots=True)
class Tag:
    """One entry of the table: what the tag means, and its detector."""

    meaning: str
    detect: Detector

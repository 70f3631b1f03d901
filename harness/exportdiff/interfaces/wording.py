"""Small parts of sentences that commands and reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def counted(number: int, noun: str) -> str:
    """Return ``1 path``, ``2 paths``, ``1,000 paths``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def span(seconds: float) -> str:
    """Return ``45 s``, ``12 min``, ``2 h 5 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"

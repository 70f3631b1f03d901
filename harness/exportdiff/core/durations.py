"""Durations as people write them: ``90s``, ``10m``, ``1h``."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>[smh]?)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float:
    """Read ``90s``, ``10m``, ``1h``, or a bare number of seconds; 0 is a duration. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write 90s, 10m or 1h")
    return float(match["number"]) * _UNITS[match["unit"]]

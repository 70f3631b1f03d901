"""The time of a campaign: since its start, and until its end."""

from __future__ import annotations

import math
import time


class Clock:
    """Measures the time since it was created."""

    def __init__(self, limit: float | None = None) -> None:
        """``limit``: the seconds that the campaign may take; None: as many as it needs."""
        self._started = time.monotonic()
        self._limit = math.inf if limit is None else limit
        self._reserved = 0.0

    def now(self) -> float:
        """Return the seconds since the start, as events carry them."""
        return round(time.monotonic() - self._started, 3)

    def set(self, seconds: float) -> None:
        """Set the time since the start, for a campaign that was interrupted then."""
        self._started = time.monotonic() - seconds

    def reserve(self, seconds: float) -> None:
        """Stop judging programs so many seconds before the limit, because something else needs them."""
        self._reserved = seconds

    @property
    def left(self) -> float:
        """The seconds until the limit, those that are reserved included; infinite without a limit."""
        return self._limit - (time.monotonic() - self._started)

    @property
    def is_over(self) -> bool:
        """Whether the time for judging programs is over."""
        return self.is_past(0.0)

    def is_past(self, grace: float) -> bool:
        """Whether the time for judging programs was over ``grace`` seconds ago."""
        return self.left + grace <= self._reserved

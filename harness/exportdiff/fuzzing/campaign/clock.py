"""The time since a campaign started."""

from __future__ import annotations

import time


class Clock:
    """Measures the time since it was created."""

    def __init__(self, limit: float | None = None) -> None:
        """``limit``: seconds after which the time is over; None: never."""
        self._started = time.monotonic()
        self._limit = limit

    def now(self) -> float:
        """Return the seconds since the start, as events carry them."""
        return round(time.monotonic() - self._started, 3)

    def set(self, seconds: float) -> None:
        """Set the time since the start, for a campaign that was interrupted then."""
        self._started = time.monotonic() - seconds

    @property
    def is_over(self) -> bool:
        """Whether the time limit is reached."""
        return self.is_past(0.0)

    def is_past(self, grace: float) -> bool:
        """Whether the time limit was reached ``grace`` seconds ago."""
        return self._limit is not None and time.monotonic() - self._started >= self._limit + grace

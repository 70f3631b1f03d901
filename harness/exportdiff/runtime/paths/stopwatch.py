"""Measuring the time spent in torch."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds up the time spent in ``with`` blocks."""

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> None:
        """Start."""
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.seconds += time.perf_counter() - self._began

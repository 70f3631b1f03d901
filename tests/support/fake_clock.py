"""A clock for tests of time limits: on a busy machine, real seconds say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathlib


class FakeClock:
    """Takes the place of the module ``time`` in a module under test.

    Its time is ``seconds``, which the test sets. With ``after``, the time stands still until that file
    exists; from then on, it is a tenth of a second later each time that somebody reads it.
    """

    def __init__(self, after: pathlib.Path | None = None) -> None:
        """Begin at 0."""
        self.seconds = 0.0
        self._after = after

    def monotonic(self) -> float:
        """Return the time in seconds."""
        if self._after is not None and self._after.exists():
            self.seconds += 0.1
        return self.seconds

"""The progress of minimizing: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from exportdiff.interfaces.reports.console import LIVE_EVERY, PLAIN_EVERY
from exportdiff.interfaces.reports.text import make_error_console

if TYPE_CHECKING:
    from exportdiff.fuzzing.minimizing import Progress


class ProgressLine:
    """Prints to standard error, because the result is printed to standard output.

    Leaving the ``with`` block removes the live line.
    """

    def __init__(self, console: Console | None = None) -> None:
        """Print to ``console``; by default, to standard error."""
        self._console = console or make_error_console()
        self._live: Live | None = None
        self._shown = time.monotonic()

    def __enter__(self) -> ProgressLine:
        """Show the live line."""
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove the live line."""
        if self._live is not None:
            self._live.stop()

    def __call__(self, now: Progress) -> None:
        """Show the progress, but not too often."""
        if time.monotonic() - self._shown < (LIVE_EVERY if self._live else PLAIN_EVERY):
            return
        self._shown = time.monotonic()
        line = Text(
            f"{now.seconds:4.0f} s  {now.lines} of {now.lines_at_start} lines  "
            f"{now.tried} candidates  {now.at}",
            no_wrap=True,
            overflow="ellipsis",
        )
        if self._live is not None:
            self._live.update(line, refresh=True)
        else:
            self._console.print(line, soft_wrap=True)

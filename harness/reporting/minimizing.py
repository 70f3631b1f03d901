"""How far the minimizer is: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from harness.reporting.console import LIVE_EVERY, PLAIN_EVERY

if TYPE_CHECKING:
    from types import TracebackType

    from harness.minimizing import Progress


class ProgressLine:
    """On standard error; the result goes to standard output."""

    def __init__(self, console: Console | None = None) -> None:
        """Print to ``console``."""
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        self._shown = time.monotonic()

    def __enter__(self) -> ProgressLine:
        """Leaving the block takes the live line away."""
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the live line away."""
        if self._live is not None:
            self._live.stop()

    def __call__(self, now: Progress) -> None:
        """Show it, but not too often."""
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

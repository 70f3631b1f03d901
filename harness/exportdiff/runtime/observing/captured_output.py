"""Capturing standard output and standard error."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class CapturedOutput(NamedTuple):
    """What was written to standard output and standard error."""

    output: io.StringIO
    error: io.StringIO

    def texts(self) -> dict[str, str]:
        """Return the texts that are not empty, by the name of the stream."""
        both = {"standard output": self.output.getvalue(), "standard error": self.error.getvalue()}
        return {stream: text for stream, text in both.items() if text}


@contextlib.contextmanager
def capture_output() -> Iterator[CapturedOutput]:
    """Redirect both streams inside the ``with`` block."""
    printed = CapturedOutput(io.StringIO(), io.StringIO())
    with contextlib.redirect_stdout(printed.output), contextlib.redirect_stderr(printed.error):
        yield printed

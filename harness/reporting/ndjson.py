"""events.ndjson: every event as it happens, one JSON object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import pathlib

    from harness.engine.events import Event


class NdjsonLog:
    """Flushes every line: the file is readable while it grows, and after a kill -9."""

    def __init__(self, file: pathlib.Path) -> None:
        """Open the file; the event that ends the campaign closes it."""
        self._stream: TextIO = file.open("w", encoding="utf-8")

    def __call__(self, event: Event) -> None:
        """Write one line."""
        self._stream.write(json.dumps(event.as_dict(), ensure_ascii=False) + "\n")
        self._stream.flush()

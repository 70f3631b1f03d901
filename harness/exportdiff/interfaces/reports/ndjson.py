"""events.ndjson: every event when it happens, one JSON object per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import pathlib

    from exportdiff.fuzzing.campaign.events import Event


class NdjsonLog:
    """Flushes every line, so that the file can be read while it grows and after a kill -9.

    Leaving the ``with`` block closes the file.
    """

    def __init__(self, file: pathlib.Path) -> None:
        """Open the file, and empty it."""
        self._stream: TextIO = file.open("w", encoding="utf-8")

    def __enter__(self) -> NdjsonLog:
        """Do nothing: the file is open."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self._stream.close()

    def __call__(self, event: Event) -> None:
        """Write one line."""
        self._stream.write(json.dumps(event.as_dict(), ensure_ascii=False) + "\n")
        self._stream.flush()

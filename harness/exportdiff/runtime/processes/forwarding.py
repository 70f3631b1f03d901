"""Copies what a child prints to standard error of this process, through a pipe that ends with the child.

If the child had standard error itself, a process that survives it would keep that open, and whoever reads the
output of the command would wait for that process.
"""

from __future__ import annotations

import os
import select
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SECONDS = 0.1
"""Seconds between two looks at whether the child has ended."""
BLOCK = 1 << 16
"""Bytes that are read at once: as many as a pipe holds."""
STANDARD_ERROR = 2


class Forwarding:
    """Copies from one end of a pipe until it is closed, or until ``finish`` is called."""

    def __init__(self, pipe: Connection) -> None:
        """Start."""
        self._pipe = pipe
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Copy what is still in the pipe, and close it."""
        self._ended.set()
        self._thread.join()
        self._pipe.close()

    def _copy(self) -> None:
        number = self._pipe.fileno()
        while True:
            last = self._ended.is_set()
            ready, _, _ = select.select([number], [], [], 0 if last else SECONDS)
            if not ready:
                if last:
                    return
                continue
            text = os.read(number, BLOCK)
            if not text:
                return
            with suppress(OSError):  # standard error is closed, or its disk is full
                os.write(STANDARD_ERROR, text)

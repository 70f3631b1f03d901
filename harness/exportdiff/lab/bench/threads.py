"""Threads that wait for child processes, and end at once when the command is interrupted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

from exportdiff.runtime.processes.child import Stopped
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Callable


def in_threads(number: int, work: Callable[[Event], None]) -> None:
    """Run ``work(stop)`` in ``number`` threads, until all have returned.

    An exception here, such as Ctrl-C, sets ``stop``; a thread that waits for a child then raises Stopped.
    Raises what ``work`` raises.
    """
    server()  # start it here: the threads would all start it at once
    stop = Event()

    def run() -> None:
        with suppress(Stopped):
            work(stop)

    with ThreadPoolExecutor(number) as threads:
        try:
            for done in [threads.submit(run) for _ in range(number)]:
                done.result()
        finally:
            stop.set()

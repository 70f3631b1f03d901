"""A limit for code that may never end, in this process."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TookTooLongError(Exception):
    """The code in a block has not ended in time."""


@contextmanager
def at_most_cpu_seconds(most: float) -> Iterator[None]:
    """Raise TookTooLongError in the block after so much CPU time of this process.

    Only the main thread can use this, and code in C is not interrupted. CPU time and not time, so that other
    processes of the machine change nothing.
    """

    def stop(number: int, frame: object) -> None:
        raise TookTooLongError(f"it has not ended within {most:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

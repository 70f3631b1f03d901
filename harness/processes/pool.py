"""A pool of worker processes for a campaign."""

from __future__ import annotations

import gc
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from harness.processes.child import (
    NOWHERE,
    POLL_SECONDS,
    Death,
    Failure,
    Stopped,
    end_with_parent,
    exit_reason,
    set_up,
)
from harness.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event
    from types import TracebackType

T = TypeVar("T")


class Workers:
    """Worker processes forked from the fork server; a fresh one replaces each after ``tasks_each`` tasks.

    Leaving the ``with`` block stops every process, whatever it is doing.
    """

    def __init__(self, count: int, *, tasks_each: int = 0) -> None:
        """Start nothing yet; the first ``submit`` does."""
        self._pool = ProcessPool(
            max_workers=count, max_tasks=tasks_each, initializer=_start, context=server()
        )

    def __enter__(self) -> Workers:
        """Start nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the processes."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble has no annotation here
        self._pool.join()

    def submit(self, seconds: float, task: Callable[..., T], *args: object) -> Task[T]:
        """Queue ``task(*args)``; its time limit counts from when a worker starts it."""
        return Task(self._pool.schedule(task, args=args, timeout=seconds), seconds)


class Task(Generic[T]):
    """A queued task."""

    def __init__(self, future: ProcessFuture[T], seconds: float) -> None:
        """Only ``Workers.submit`` calls this."""
        self._future = future
        self._seconds = seconds

    def is_done(self, seconds: float = 0.0) -> bool:
        """Whether there is an answer; waits for it, but not longer than ``seconds``."""
        if seconds and not self._future.done():
            with suppress(FutureTimeout, CancelledError):
                self._future.exception(timeout=seconds)
        return bool(self._future.done())

    def cancel(self) -> bool:
        """Take a task that no worker has started out of the queue. Return whether it was still there."""
        if self._future.done() or self._future.running():
            return False
        self._future.cancel()  # type: ignore[no-untyped-call]  # pebble has no annotation here
        return True

    def wait(self, stop: Event | None = None) -> T | Death | Failure:
        """Return the answer, or a Death or a Failure; raises Stopped soon after ``stop`` is set."""
        while not self._future.done():
            if stop is not None and stop.is_set():
                self._future.cancel()  # type: ignore[no-untyped-call]  # pebble has no annotation here
                raise Stopped
            try:
                self._future.exception(timeout=POLL_SECONDS)
            except FutureTimeout:
                continue
        error = self._future.exception()
        if error is None:
            return self._future.result()
        if isinstance(error, ProcessExpired):
            return Death("abort", exit_reason(error.exitcode))
        if isinstance(error, FutureTimeout):
            return Death("hang", f"no answer within {self._seconds:g} s")
        return Failure(error)


def _start() -> None:
    end_with_parent()
    set_up(NOWHERE)
    # Exporting makes garbage all the time: automatic collection takes a sixth of the run. The tasks collect
    # between two batches instead (see ``engine/worker.py``).
    gc.disable()

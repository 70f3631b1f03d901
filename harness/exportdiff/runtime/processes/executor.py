"""An executor runs tasks in other processes: ``submit`` queues a Task, whose ``wait`` returns the answer.

Executors differ in their worker slots: where a task runs. Here are the protocols, and the executor that
shares tasks out to worker slots, with one thread per slot.
"""

from __future__ import annotations

from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from queue import LifoQueue
from threading import Event
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from exportdiff.runtime.processes.child import POLL_SECONDS, Death, Stopped, TaskFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


class Executor(Protocol):
    """Runs tasks in other processes, on this machine or on others."""

    def submit(self, seconds: float, task: Callable[..., T], *args: object) -> Task[T]:
        """Queue ``task(*args)``; its time limit counts from when it starts."""

    def close(self) -> None:
        """End every process, whatever it is doing."""


class WorkerSlot(Protocol):
    """Where one task runs at a time: a process on this machine, or a share of a cluster."""

    def ask(
        self, seconds: float, task: Callable[..., T], *args: object, stop: Event | None = None
    ) -> T | Death | TaskFailure:
        """Return ``task(*args)``, run there. Raises Stopped soon after ``stop`` is set."""

    def stop(self) -> None:
        """End what runs there; the next task starts a new process."""


class Task(Generic[T]):
    """A queued task."""

    def __init__(self, future: Future[T | Death | TaskFailure]) -> None:
        """Only executors call this."""
        self._future = future

    def is_done(self, seconds: float = 0.0) -> bool:
        """Whether there is an answer; waits for it, but not longer than ``seconds``."""
        if seconds and not self._future.done():
            with suppress(FutureTimeout, CancelledError):
                self._future.exception(timeout=seconds)
        return self._future.done()

    def cancel(self) -> bool:
        """Take the task out of the queue, if it has not started. Return whether that worked."""
        return self._future.cancel()

    def wait(self, stop: Event | None = None) -> T | Death | TaskFailure:
        """Return the answer, a Death or a TaskFailure. Raises Stopped soon after ``stop`` is set."""
        while not self.is_done(POLL_SECONDS):
            if stop is not None and stop.is_set():
                self._future.cancel()
                raise Stopped
        return self._future.result()


class WorkerSlots:
    """The executor that gives each task to a free worker slot. Leaving the ``with`` block closes it."""

    def __init__(self, slots: Sequence[WorkerSlot], at_end: Callable[[], None] = lambda: None) -> None:
        """Start nothing yet; the first ``submit`` does. ``close`` calls ``at_end``."""
        self._slots = slots
        self._at_end = at_end
        # The slot that was used last is warm.
        self._free: LifoQueue[WorkerSlot] = LifoQueue()
        for slot in slots:
            self._free.put(slot)
        self._stop = Event()
        self._threads = ThreadPoolExecutor(len(slots))

    def __enter__(self) -> WorkerSlots:
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def submit(self, seconds: float, task: Callable[..., T], *args: object) -> Task[T]:
        """Queue ``task(*args)``; its time limit counts from when it starts."""
        return Task(self._threads.submit(self._run, seconds, task, args))

    def close(self) -> None:
        """End every process, whatever it is doing."""
        self._stop.set()
        self._threads.shutdown(cancel_futures=True)
        for slot in self._slots:
            slot.stop()
        self._at_end()

    def _run(
        self, seconds: float, task: Callable[..., T], args: tuple[object, ...]
    ) -> T | Death | TaskFailure:
        slot = self._free.get()
        try:
            return slot.ask(seconds, task, *args, stop=self._stop)
        finally:
            self._free.put(slot)

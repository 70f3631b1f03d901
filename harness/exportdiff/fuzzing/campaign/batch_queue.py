"""Keeps workers busy: queues batches of examples, even while the campaign waits for something else."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from exportdiff.runtime.processes.child import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from threading import Event

    from exportdiff.fuzzing.campaign.clock import Clock
    from exportdiff.runtime.processes.child import Death, TaskFailure
    from exportdiff.runtime.processes.executor import Task

R = TypeVar("R")
T = TypeVar("T")

BATCH = 8
"""Examples per task: enough to keep its overhead small, and few enough to keep all workers busy. The first
tasks have fewer, so that the first results come early."""
AHEAD = 3
"""Batches per worker that are queued or in progress, so that no worker waits for its next batch."""
MOST_FINISHED = 500
"""Batches that may be finished before their turn: 4000 results, about 40 MB."""
POLL = 0.1
"""Seconds between two checks of the queue."""


class Batch(NamedTuple, Generic[R]):
    """Some examples, and the task that runs them."""

    indices: tuple[int, ...]
    task: Task[R]


class BatchQueue(Generic[R]):
    """The batches that are queued, in progress, or finished before their turn."""

    def __init__(
        self,
        submit: Callable[[tuple[int, ...]], Task[R]],
        indices: Iterator[int],
        workers: int,
        clock: Clock,
        stop: Event | None,
    ) -> None:
        """``submit`` queues a batch; ``workers`` batches run at a time; setting ``stop`` ends the run."""
        self._submit = submit
        self._indices = indices
        self._workers = workers
        self._clock = clock
        self._stop = stop
        self._batches: deque[Batch[R]] = deque()
        self._queued = 0

    def batches(self) -> Iterator[Batch[R]]:
        """Yield the finished batches in order, until none is left or the time is over. Raises Stopped."""
        while not self._clock.is_over:
            self._check()
            self.refill()
            if not self._batches:
                return
            if self._batches[0].task.is_done(POLL):
                yield self._batches.popleft()

    def cancel_waiting(self) -> list[Batch[R]]:
        """Cancel the batches that no worker has started; return the others."""
        return [batch for batch in self._batches if not batch.task.cancel()]

    def answer(self, task: Task[T]) -> T | Death | TaskFailure:
        """Wait for another task; workers get further batches meanwhile. Raises Stopped."""
        while not task.is_done(POLL):
            self._check()
            self.refill()
        return task.wait(self._stop)

    def meanwhile(self, function: Callable[[], T]) -> T:
        """Run a function in a thread, and return its result; workers get further batches meanwhile."""
        result: Future[T] = Future()

        def run() -> None:
            try:
                result.set_result(function())
            except BaseException as error:
                result.set_exception(error)

        # Daemon thread, so that a second Ctrl-C does not wait for it.
        thread = Thread(target=run, daemon=True)
        thread.start()
        while not result.done():
            self.refill()
            thread.join(POLL)
        return result.result()

    def _check(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise Stopped

    def refill(self) -> None:
        """Queue further batches, unless there are enough, the time is over or the campaign should stop."""
        if self._clock.is_over or (self._stop is not None and self._stop.is_set()):
            return
        in_progress = sum(not batch.task.is_done() for batch in self._batches)
        while in_progress < AHEAD * self._workers and len(self._batches) < MOST_FINISHED:
            indices = tuple(islice(self._indices, min(1 + self._queued // self._workers, BATCH)))
            if not indices:
                return
            self._queued += 1
            self._batches.append(Batch(indices, self._submit(indices)))
            in_progress += 1

"""Keeps workers busy: queues examples, even while the campaign waits for something else."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
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

AHEAD = 8
"""Examples per worker that are queued or in progress, so that no worker waits for its next one."""
MOST_FINISHED = 4000
"""Examples that may be finished before their turn: about 40 MB."""
POLL = 0.1
"""Seconds between two checks of the queue."""


class Queued(NamedTuple, Generic[R]):
    """An example, and the task that runs it."""

    number: int
    task: Task[R]


class ExampleQueue(Generic[R]):
    """The examples that are queued, in progress, or finished before their turn.

    Each is a task by itself, so that the end of the time costs no more than the examples in progress.
    """

    def __init__(
        self,
        submit: Callable[[int], Task[R]],
        indices: Iterator[int],
        may_start: Callable[[int], bool],
        workers: int,
        clock: Clock,
        stop: Event | None,
    ) -> None:
        """``submit`` queues an example; ``workers`` run at a time; setting ``stop`` ends the run.

        An example for which ``may_start`` is False waits until further examples before it are finished.
        """
        self._submit = submit
        self._indices = indices
        self._next = next(indices, None)
        """The example to queue next; None: there is none."""
        self._may_start = may_start
        self._workers = workers
        self._clock = clock
        self._stop = stop
        self._examples: deque[Queued[R]] = deque()

    def finished(self) -> Iterator[Queued[R]]:
        """Yield the finished examples in order, until none is left or the time is over. Raises Stopped."""
        while not self._clock.is_over:
            self._check()
            self.refill()
            if not self._examples:
                return
            if self._examples[0].task.is_done(POLL):
                yield self._examples.popleft()

    def cancel_waiting(self) -> list[Queued[R]]:
        """Cancel the examples that no worker has started; return the others."""
        return [each for each in self._examples if not each.task.cancel()]

    def answer(self, task: Task[T]) -> T | Death | TaskFailure:
        """Wait for another task; workers get further examples meanwhile. Raises Stopped."""
        while not task.is_done(POLL):
            self._check()
            self.refill()
        return task.wait(self._stop)

    def meanwhile(self, function: Callable[[], T]) -> T:
        """Run a function in a thread, and return its result; workers get further examples meanwhile."""
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
        """Queue further examples, unless there are enough, the time is over or the campaign should stop."""
        if self._clock.is_over or (self._stop is not None and self._stop.is_set()):
            return
        in_progress = sum(not each.task.is_done() for each in self._examples)
        missing = min(AHEAD * self._workers - in_progress, MOST_FINISHED - len(self._examples))
        for _ in range(missing):
            if self._next is None or not self._may_start(self._next):
                return
            self._examples.append(Queued(self._next, self._submit(self._next)))
            self._next = next(self._indices, None)

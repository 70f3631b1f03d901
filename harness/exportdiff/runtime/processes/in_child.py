"""Calling a function in a child process: in a fresh one, or in one that is used again."""

from __future__ import annotations

import gc
import traceback
from typing import TYPE_CHECKING, TypeVar

from exportdiff.runtime.processes.child import NOWHERE, Child, Death, TaskFailure
from exportdiff.runtime.processes.limits import MIB
from exportdiff.runtime.processes.usage import resident

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from threading import Event
    from types import TracebackType

T = TypeVar("T")

GROWTH = 250
"""A process that runs task after task is replaced once it takes so many MiB more than after its first task.
torch leaks about 0.3 MiB for each program: caches, compiled code, modules."""


def call_fresh(
    seconds: float, task: Callable[..., T], *args: object, stop: Event | None = None
) -> T | Death | TaskFailure:
    """Return ``task(*args)``, run in a fresh process; a Death or a TaskFailure where that does not work.

    Raises Stopped soon after ``stop`` is set.
    """
    with Child(_answer_once, task, args) as child:
        answer: T | Death | TaskFailure = child.receive(seconds, stop)
        return answer


class ReusableWorker:
    """A process that runs one task after the other; when a task kills it, the next task starts another.

    So does the next task if the process has grown too large. Leaving the ``with`` block ends the process.
    """

    def __init__(self, growth: int = GROWTH, tasks: int | None = None) -> None:
        """Start nothing yet; the first ``ask`` does.

        ``growth``: MiB, see GROWTH. ``tasks``: after so many tasks the process is replaced in any case: not
        every system says how much memory a process takes.
        """
        self._child: Child | None = None
        self._growth = growth * MIB
        self._tasks = tasks
        self._first: int | None = None
        self._done = 0

    def __enter__(self) -> ReusableWorker:
        """Start nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.stop()

    @property
    def is_new(self) -> bool:
        """Whether the next task starts a process, which is slower at first."""
        return self._child is None

    def ask(
        self, seconds: float, task: Callable[..., T], *args: object, stop: Event | None = None
    ) -> T | Death | TaskFailure:
        """Return ``task(*args)``, run in that process. An exception during the wait ends the process.

        Raises Stopped soon after ``stop`` is set.
        """
        child = self._child = self._child or Child(_answer_all, output=NOWHERE)
        answer: T | Death | TaskFailure
        try:
            child.send((task, args))
            answer = child.receive(seconds, stop)
        except OSError:
            answer = child.death()
        except BaseException:
            self.stop()
            raise
        self._done += 1
        if isinstance(answer, Death) or self._done == self._tasks or self._has_grown(child):
            self.stop()
        return answer

    def _has_grown(self, child: Child) -> bool:
        used = resident(child.pid)
        if self._first is None:
            self._first = used
        return used - self._first > self._growth

    def stop(self) -> None:
        """End the process; the next task starts another."""
        if self._child is not None:
            self._child.end()
        self._child = self._first = None
        self._done = 0


def _answer_once(pipe: Connection, task: Callable[..., object], args: tuple[object, ...]) -> None:
    pipe.send(_result(task, args))


def _answer_all(pipe: Connection) -> None:
    # Exporting makes garbage all the time: automatic collection takes a sixth of the run. The tasks collect
    # between two programs instead.
    gc.disable()
    while True:
        try:
            task, args = pipe.recv()
        except EOFError:  # the parent is gone
            return
        pipe.send(_result(task, args))


def _result(task: Callable[..., object], args: tuple[object, ...]) -> object:
    try:
        return task(*args)
    except Exception as error:
        return TaskFailure(RuntimeError("".join(traceback.format_exception(error))))

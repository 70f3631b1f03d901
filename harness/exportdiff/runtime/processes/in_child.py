"""Calls a function in a child process: in a fresh process, or in one that runs many tasks."""

from __future__ import annotations

import gc
import traceback
from typing import TYPE_CHECKING, TypeVar

from exportdiff.runtime.processes.child import DEVNULL, Child, Death, TaskFailure
from exportdiff.runtime.processes.limits import MIB
from exportdiff.runtime.processes.usage import resident

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from threading import Event

T = TypeVar("T")

GROWTH = 250
"""MiB by which a reusable process may grow after its first task before it is replaced. torch leaks about
0.3 MiB for each program: caches, compiled code, modules."""


def call_fresh(
    seconds: float, task: Callable[..., T], *args: object, stop: Event | None = None
) -> T | Death | TaskFailure:
    """Return ``task(*args)``, run in a fresh process; a Death or a TaskFailure if that fails.

    Raises Stopped soon after ``stop`` is set.
    """
    with Child(_answer_once, task, args) as child:
        answer: T | Death | TaskFailure = child.receive(seconds, stop)
        return answer


class ReusableWorker:
    """A process that runs one task after the other.

    If a task killed it or raised an exception, or if it has grown too large, the next task starts another
    process. Leaving the ``with`` block ends the process.
    """

    def __init__(self, growth: int = GROWTH, tasks: int | None = None) -> None:
        """Start nothing yet; the first ``ask`` does.

        ``growth``: MiB, see GROWTH. ``tasks``: the number of tasks after which the process is replaced in any
        case: not every system says how much memory a process takes.
        """
        self._child: Child | None = None
        self._growth = growth * MIB
        self._tasks = tasks
        self._first: int | None = None
        self._done = 0

    def __enter__(self) -> ReusableWorker:
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
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
        child = self._child = self._child or Child(_answer_all, output=DEVNULL)
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
        if isinstance(answer, Death | TaskFailure) or self._done == self._tasks or self._has_grown(child):
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
    # Automatic garbage collection takes a sixth of the run, because exporting makes much garbage. The tasks
    # collect it between two programs instead.
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

"""Runs a task in a copy of this process, which therefore has all its objects: closures and local classes too.

The process is forked, so nothing is pickled. It does not become a parent: a second fork watches the task and
ends it at its limits, and nothing that the task does changes this process.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing import Pipe, connection
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from exportdiff.runtime.processes.child import (
    DEVNULL,
    POLL_SECONDS,
    Death,
    TaskFailure,
    end_with,
    exit_reason,
    over_limit,
    set_up,
    waited_for_core,
)
from exportdiff.runtime.processes.descendants import ask_for_orphans, kill
from exportdiff.runtime.processes.limits import Limits, be_killed_first, limit_files
from exportdiff.runtime.processes.usage import process_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

Answer: TypeAlias = "Callable[[object], None]"
"""Sends an answer of the task; the last one counts."""

STOPPED = Death("abort", "the process that made the call ended, or was interrupted")


@dataclass(frozen=True)
class CopyResult:
    """What became of a task."""

    answers: tuple[object, ...]
    """What it answered, in order."""
    end: Death | TaskFailure | None
    """Why it ended early; None: it did not."""
    seconds: float


class Copy:
    """A copy of this process that runs one task."""

    _open: set[Connection] = set()  # noqa: RUF012  # shared by all copies: a new one closes what it inherits
    """The pipes to the copies that run."""

    def __init__(
        self,
        task: Callable[[Answer], None],
        finish: Callable[[CopyResult], None],
        seconds: float,
        limits: Limits,
    ) -> None:
        """Start ``task`` in a copy, with a limit in seconds. Another copy calls ``finish`` at its end."""
        self._done, done = Pipe(duplex=False)
        wanted, self._wanted = Pipe(duplex=False)

        def watch() -> None:
            for each in (self._done, self._wanted, *self._open):
                each.close()
            finish(_watched(wanted, task, seconds, limits))

        pid = _fork()
        if not pid:
            _leave_alone(lambda: _start_watcher(watch))
        done.close()
        wanted.close()
        os.waitpid(pid, 0)
        self._open |= {self._done, self._wanted}

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the task has ended and ``finish`` has returned; return whether that is so."""
        if not self._done.closed:
            if not self._done.poll(seconds):  # the watcher has the other end, until it ends
                return False
            self.end()
        return True

    def end(self) -> None:
        """End the task, if it still runs; ``finish`` is called."""
        for each in (self._done, self._wanted):
            self._open.discard(each)
            each.close()


def _start_watcher(watch: Callable[[], None]) -> None:
    # This process ends at once, so that the watcher is no child of the process of the user.
    if _fork():
        return
    os.setsid()  # Ctrl-C reaches the process of the user alone
    faulthandler.disable()
    sys.settrace(None)
    set_up(DEVNULL)
    watch()


def _fork() -> int:
    with warnings.catch_warnings():  # Python 3.12 warns if there are threads
        warnings.simplefilter("ignore")
        return os.fork()


def _leave_alone(body: Callable[[], None]) -> NoReturn:
    """Run the body of a forked process, and end it without what Python does at the end of a process."""
    try:
        body()
    except BaseException:  # it must never return to the code of the user
        os._exit(1)
    os._exit(0)


def _watched(
    wanted: Connection, task: Callable[[Answer], None], seconds: float, limits: Limits
) -> CopyResult:
    """Run the task in a further copy, and watch its limits."""
    begun = time.monotonic()
    ask_for_orphans()
    receiver, sender = Pipe(duplex=False)
    own = os.getpid()
    pid = os.fork()
    if not pid:
        _leave_alone(lambda: _run(own, sender, task, limits))
    sender.close()
    answers: list[object] = []
    end = _receive(receiver, wanted, answers, pid, begun + seconds, limits)
    kill(process_tree(pid))
    _, status = os.waitpid(pid, 0)
    if end is None and status:
        end = Death("abort", exit_reason(os.waitstatus_to_exitcode(status)))
    if answers and isinstance(answers[-1], TaskFailure):
        end = answers.pop()  # type: ignore[assignment]  # as the line before says
    return CopyResult(tuple(answers), end, time.monotonic() - begun)


def _receive(
    pipe: Connection,
    wanted: Connection,
    answers: list[object],
    pid: int,
    deadline: float,
    limits: Limits,
) -> Death | None:
    """Collect answers until the task closes its pipe; return the limit that it reached first."""
    begun = time.monotonic()
    while True:
        ready = connection.wait([pipe, wanted], POLL_SECONDS)
        if pipe in ready:
            try:
                answers.append(pipe.recv())
            except (EOFError, OSError):
                return None
        if wanted in ready:
            return STOPPED
        # The time for which it only waited for a core does not count.
        if time.monotonic() >= deadline + waited_for_core(pid):
            return Death("hang", f"no answer within {deadline - begun:.0f} s")
        if death := over_limit(pid, limits):
            return death


def _run(watcher: int, pipe: Connection, task: Callable[[Answer], None], limits: Limits) -> None:
    end_with(watcher)
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    be_killed_first()
    limit_files(limits.file_size)
    random.seed(0)  # Python seeds it in each fork
    try:
        task(pipe.send)
    except Exception as error:
        pipe.send(TaskFailure(RuntimeError("".join(traceback.format_exception(error)))))

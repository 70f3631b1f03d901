"""One child process: started, listened to for a limited time, ended with all that it started."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import pathlib
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.processes.server import server

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from threading import Event
    from types import TracebackType

Body: TypeAlias = "Callable[..., None]"
"""What a child runs: a function of its end of the pipe and of the arguments."""

POLL_SECONDS = 0.5
"""Seconds between two checks whether a wait should stop."""

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h."""

NOWHERE = pathlib.Path(os.devnull)


@dataclass(frozen=True)
class Death:
    """A process that ended, or reached its time limit, before it answered."""

    kind: Literal["abort", "hang"]
    reason: str
    """``SIGSEGV``, ``exit code 3``, ``no answer within 60 s``."""


@dataclass(frozen=True)
class Failure:
    """A task that raised an exception in its process; the text of ``error`` holds the traceback there."""

    error: BaseException


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """Somebody asked to stop during a wait, or the time for it is over; the text says which."""

    def __init__(self, why: str = "interrupted") -> None:
        """``why``: for people."""
        super().__init__(why)


class Child:
    """A process forked from the fork server; it leads a process group of its own.

    Leaving the ``with`` block ends the process and every process that it started.
    """

    def __init__(self, body: Body, *args: object, output: pathlib.Path | None = None) -> None:
        """Start a process that runs ``body(pipe, *args)``; all of it has to be picklable.

        The file ``output`` gets what the process prints. None: standard error gets it, so that it cannot mix
        with what this command prints on standard output.
        """
        self._pipe, theirs = server().Pipe()
        self._process = server().Process(target=_main, args=(theirs, output, body, args))
        self._process.start()
        theirs.close()

    def __enter__(self) -> Child:
        """Do nothing: the process already runs."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.end()

    def send(self, message: object) -> None:
        """Send a message. Raises OSError if the process is dead."""
        self._pipe.send(message)

    def receive(self, seconds: float, stop: Event | None = None) -> Any:
        """Return the next message; a Death if the process ends first, or none comes within ``seconds``.

        Raises Stopped soon after ``stop`` is set. A process that reached its limit still runs: end it. The
        time for which it only waited for a core does not count: on a busy machine, a program does not hang.
        """
        pid = self._process.pid or 0
        deadline = time.monotonic() + seconds
        waited = waited_for_core(pid)
        try:
            while True:
                if stop is not None and stop.is_set():
                    raise Stopped
                left = max(deadline - time.monotonic(), 0.0)
                if self._pipe.poll(left if stop is None else min(left, POLL_SECONDS)):
                    return self._pipe.recv()
                if time.monotonic() >= deadline:
                    more = waited_for_core(pid) - waited
                    if more > POLL_SECONDS:
                        deadline, waited = time.monotonic() + more, waited + more
                        continue
                    return Death("hang", f"no answer within {seconds:g} s")
        except (EOFError, OSError):
            return self.death()

    def death(self) -> Death:
        """Say how the process ended; call it once the pipe is broken."""
        return Death("abort", exit_reason(self.exit_code(POLL_SECONDS)))

    def exit_code(self, seconds: float) -> int | None:
        """Wait for the end; return the exit code, negative for a signal; None if the process still runs."""
        self._process.join(seconds)
        return self._process.exitcode

    def end(self) -> None:
        """Kill the process and whatever it started; do nothing if all have ended."""
        if self._process.is_alive():
            self._process.kill()
        if self._process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()
        self._pipe.close()


def waited_for_core(pid: int) -> float:
    """Return for how many seconds a process could have run and got no core; 0 where nobody counts that."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # not on Linux, or the process is gone
        return 0.0


def _main(pipe: Connection, output: pathlib.Path | None, body: Body, args: tuple[object, ...]) -> None:
    os.setpgid(0, 0)
    end_with_parent()
    set_up(output)
    body(pipe, *args)


def end_with_parent() -> None:
    """Let this process end when the command is gone, even if that was killed.

    The fork server ends when nobody holds the other end of its pipe; multiprocessing gives that end to every
    child as well. Linux is asked to kill this process when the server ends; elsewhere it ends when it next
    answers.
    """
    alive = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if alive is not None:
        os.close(alive)
        forkserver._forkserver._forkserver_alive_fd = None  # type: ignore[attr-defined]  # private
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def set_up(output: pathlib.Path | None) -> None:
    """Set up a child: one thread, no warnings, no logs, Ctrl-C left to the parent; ``output`` as in Child."""
    import torch  # here, to save start-up time: only children need it, and they have it imported

    torch.set_num_threads(1)
    # The source line of every node, for people to read: a twentieth of the time of a non-strict export.
    if hasattr(torch.fx.config, "do_not_emit_stack_traces"):
        torch.fx.config.do_not_emit_stack_traces = True
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if output is None:
        os.dup2(2, 1)
        return
    with output.open("wb") as target:
        os.dup2(target.fileno(), 1)
        os.dup2(target.fileno(), 2)


def exit_reason(code: int | None) -> str:
    """Return ``SIGSEGV`` for -11, ``exit code 3`` for 3."""
    if code is not None and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"

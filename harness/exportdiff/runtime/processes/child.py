"""One child process: started within limits, waited for, and ended with all processes that it started."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import pathlib
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from exportdiff.core.errors import UsageError
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.descendants import ask_for_orphans, end_orphans, kill
from exportdiff.runtime.processes.forwarding import Forwarding
from exportdiff.runtime.processes.limits import (
    MIB,
    Limits,
    be_killed_first,
    limit_files,
    limit_of_the_shell,
    limits,
)
from exportdiff.runtime.processes.network import leave_network
from exportdiff.runtime.processes.server import server, server_pid
from exportdiff.runtime.processes.usage import fair_share, process_tree, usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from threading import Event

Body: TypeAlias = "Callable[..., None]"
"""What a child runs: a function of its end of the pipe and of the arguments."""

TIME_LIMIT = "the time limit was reached"

POLL_SECONDS = 0.1
"""Seconds between two checks of the limits of a child, and of whether a wait should stop."""
END_SECONDS = 5.0
"""Seconds within which a process ends after it was killed or has closed its pipe."""

_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h."""

DEVNULL = pathlib.Path(os.devnull)


_processes = threading.Lock()
"""Taken to start a process and to read an exit code: multiprocessing does not support several threads."""
_living: set[int] = set()
"""The ids of the children that were started and not ended."""


@dataclass(frozen=True)
class Death:
    """A process that ended, or reached a limit, before it answered."""

    kind: Literal["abort", "hang"]
    reason: str
    """``SIGSEGV``, ``exit code 3``, ``no answer within 60 s``, ``more than 4096 MiB of memory``."""
    memory: int | None = None
    """The limit in MiB, if it took more memory than that."""
    of_shell: bool = False
    """Whether the shell that started the command limits the CPU time, and that may have ended it."""


@dataclass(frozen=True)
class TaskFailure:
    """A task that raised an exception in its process; the text of ``error`` holds the traceback there."""

    error: BaseException


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """A wait was interrupted, or its time is over; the text says which."""

    def __init__(self, why: str = "interrupted") -> None:
        """``why``: for people."""
        super().__init__(why)


class Child:
    """A process forked from the fork server; it leads a new process group.

    Leaving the ``with`` block ends the process and every process that it started.
    """

    def __init__(self, body: Body, *args: object, output: pathlib.Path | None = None) -> None:
        """Start a process that runs ``body(pipe, *args)`` within ``limits()``; the arguments are pickled.

        ``output``: the file for what the process prints. None: standard error, so that it does not mix with
        what this command prints on standard output.

        The process works in a scratch folder, which is removed at its end. Links there lead to the files of
        the current folder, so that relative names of files work.
        """
        self._limits = limits()
        self._scratch = scratch.make()
        self._pipe, theirs = server().Pipe()
        printed, prints = server().Pipe(duplex=False) if output is None else (None, None)
        folders = (pathlib.Path.cwd(), pathlib.Path(self._scratch.name))
        setup = (output or prints, self._limits, folders, body, args)
        try:
            self._process = self._started(theirs, setup)
        except (EOFError, OSError):  # the server was killed at this moment
            time.sleep(END_SECONDS)
            self._process = self._started_again(theirs, setup)
        theirs.close()
        if prints is not None:
            prints.close()
        self._forwarding = None if printed is None else Forwarding(printed)

    @staticmethod
    def _started(pipe: Connection, setup: tuple[Any, ...]) -> BaseProcess:
        with _processes:
            context = server()
            process = context.Process(target=_main, args=(pipe, server_pid(), *setup))
            process.start()
            _living.add(process.pid or 0)
        return process

    def _started_again(self, pipe: Connection, setup: tuple[Any, ...]) -> BaseProcess:
        try:
            return self._started(pipe, setup)
        except (EOFError, OSError) as error:
            self._scratch.cleanup()
            why = limit_of_the_shell() or f"{type(error).__name__}: {error}"
            raise UsageError(f"no process that imports torch can be started ({why})") from None

    def __enter__(self) -> Child:
        """Do nothing: the process already runs."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid or 0

    def send(self, message: object) -> None:
        """Send a message. Raises OSError if the process is dead."""
        self._pipe.send(message)

    def receive(self, seconds: float, stop: Event | None = None, deadline: float | None = None) -> Any:
        """Return the next message; a Death if the process ends or reaches a limit first.

        ``seconds`` becomes longer on a busy machine. ``deadline``, as ``time.monotonic`` counts, does not.
        Raises Stopped at the deadline, and soon after ``stop`` is set. A process that reached a limit still
        runs: end it.
        """
        try:
            death = self._watched(lambda left: self._pipe.poll(left), seconds, stop, deadline)
            return death or self._pipe.recv()
        except (EOFError, OSError):
            return self.death()

    def death(self) -> Death:
        """Say how the process ended; call it once the pipe is broken."""
        self._ends_within(END_SECONDS)
        code = self._exit_code()
        if code is not None and -code in (signal.SIGXCPU, signal.SIGKILL) and limit_of_the_shell():
            return Death("abort", limit_of_the_shell(), of_shell=True)
        return Death("abort", exit_reason(code))

    def wait(self, seconds: float) -> int | Death:
        """Wait for the end; return the exit code, negative for a signal; a Death if it reaches a limit first.

        A process that reached a limit still runs: end it.
        """
        death = self._watched(self._ends_within, seconds, None)
        if death is not None:
            return death
        code = self._exit_code()
        return Death("abort", exit_reason(None)) if code is None else code

    def end(self) -> None:
        """Kill the process and whatever it started; do nothing if all have ended."""
        if self._exit_code() is None:
            kill(process_tree(self.pid))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._ends_within(None)
        with _processes:
            _living.discard(self.pid)
            end_orphans(server_pid(), _living)
        if self._forwarding is not None:
            self._forwarding.finish()
        self._pipe.close()
        self._scratch.cleanup()

    def _watched(
        self,
        happens: Callable[[float], bool],
        seconds: float,
        stop: Event | None,
        deadline: float | None = None,
    ) -> Death | None:
        """Wait until something happens; if a limit is reached first, return that.

        ``happens(seconds)`` waits and returns whether it has happened. The time for which the process only
        waited for a core does not count, so that a busy machine does not look like a hang.
        """
        patience = time.monotonic() + seconds
        waited = waited_for_core(self.pid)
        while True:
            if stop is not None and stop.is_set():
                raise Stopped
            until = patience if deadline is None else min(patience, deadline)
            if happens(min(max(until - time.monotonic(), 0.0), POLL_SECONDS)):
                return None
            death = over_limit(self.pid, self._limits)
            if death is not None:
                return death
            if deadline is not None and time.monotonic() >= deadline:
                raise Stopped(TIME_LIMIT)
            if time.monotonic() >= patience:
                more = waited_for_core(self.pid) - waited
                if more <= POLL_SECONDS:
                    return Death("hang", f"no answer within {seconds:g} s")
                patience, waited = time.monotonic() + more, waited + more

    def _ends_within(self, seconds: float | None) -> bool:
        """Wait for the end of the process; return whether it has ended."""
        return bool(connection.wait([self._process.sentinel], seconds))

    def _exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None if the process still runs."""
        with _processes:
            return self._process.exitcode


def over_limit(pid: int, most: Limits) -> Death | None:
    """Return the limit that a process and its descendants have passed; None if there is none."""
    used = usage(pid)
    # The fair share takes longer to find, and is never more.
    if used.memory > most.memory * MIB and fair_share(pid) > most.memory * MIB:
        return Death("abort", f"more than {most.memory} MiB of memory", most.memory)
    if used.processes > most.processes:
        return Death("abort", f"more than {most.processes} processes")
    return None


def waited_for_core(pid: int) -> float:
    """Return for how many seconds a process waited for a core; 0 on systems that do not count that."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # not on Linux, or the process is gone
        return 0.0


def _main(
    pipe: Connection,
    server: int,
    output: pathlib.Path | Connection,
    limits: Limits,
    folders: tuple[pathlib.Path, pathlib.Path],
    body: Body,
    args: tuple[object, ...],
) -> None:
    os.setpgid(0, 0)
    ask_for_orphans()
    if not limits.network:
        leave_network()
    end_with_parent(server)
    be_killed_first()
    limit_files(limits.file_size)
    if limits.devices is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = limits.devices
    scratch.enter(*folders)
    set_up(output)
    try:
        body(pipe, *args)
    except KeyboardInterrupt:  # the program raised it: this process ignores the signal
        sys.exit(1)


def end_with_parent(server: int) -> None:
    """Let this process end when the command is gone, even if that was killed. ``server``: the fork server.

    The fork server ends when the other end of its pipe is closed everywhere; multiprocessing gives that end
    to every child too. Linux kills this process when the server ends; elsewhere it ends when it next answers.
    """
    alive = getattr(forkserver._forkserver, "_forkserver_alive_fd", None)
    if alive is not None:
        os.close(alive)
        forkserver._forkserver._forkserver_alive_fd = None  # type: ignore[attr-defined]  # private
    end_with(server)


def end_with(parent: int) -> None:
    """Let Linux end this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before Linux was asked
        os.kill(os.getpid(), signal.SIGKILL)


_threads = 1


def threads_of_user() -> int:
    """Return how many threads torch would use in this child if it were the user's process."""
    return _threads


def set_up(output: pathlib.Path | Connection) -> None:
    """Set up a child: one thread, no warnings, no logs, Ctrl-C left to the parent.

    ``output``: the file or the pipe for what the process prints.
    """
    import torch  # here, to save start-up time: only children need it, and they have it imported

    global _threads
    _threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # Do not record the source line of every node: that takes 5 % of a non-strict export.
    if hasattr(torch.fx.config, "do_not_emit_stack_traces"):
        torch.fx.config.do_not_emit_stack_traces = True
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with output.open("wb") if isinstance(output, pathlib.Path) else output as target:
        os.dup2(target.fileno(), 1)
        os.dup2(target.fileno(), 2)


_KILLS = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
SERVER_GONE = 255
"""The exit code that multiprocessing returns if the fork server was killed, because the real one is lost."""


def ended_from_outside(code: int | None) -> bool:
    """Whether the exit code says that something else ended the process: another run may end differently.

    A limit (None), a kill (also by Linux, if memory is short), or the end of the fork server.
    """
    return code is None or code == SERVER_GONE or -code in _KILLS


def exit_reason(code: int | None) -> str:
    """Return ``SIGSEGV`` for -11, ``exit code 3`` for 3."""
    if code is not None and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"

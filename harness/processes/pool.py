"""Processes to run models in: a pool for a campaign, and single fresh ones.

All are forked from one server that has torch imported and has run nothing (see ``preload``).
"""

from __future__ import annotations

import contextlib
import gc
import logging
import multiprocessing
import os
import pathlib
import signal
import traceback
import warnings
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext
    from multiprocessing.process import BaseProcess
    from threading import Event
    from types import TracebackType

T = TypeVar("T")

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Death:
    """A task whose process did not live to answer."""

    kind: Literal["abort", "hang"]
    reason: str
    """``SIGSEGV``, ``exit code 3``, ``no answer within 60 s``."""


@dataclass(frozen=True)
class Failure:
    """A task that raised: ``error`` as it came, with the remote traceback in its text."""

    error: BaseException


class Stopped(Exception):  # noqa: N818 - a request, not an error
    """The campaign was asked to stop while it waited."""


def server() -> ForkServerContext:
    """The context whose children are forked from the preloaded server; starts it on first use."""
    try:
        context = multiprocessing.get_context("forkserver")
    except ValueError:
        raise UsageError("this platform has no fork server: run on Linux or macOS") from None
    context.set_forkserver_preload(["harness.processes.preload"])
    with _environment():
        forkserver.ensure_running()
    return context


@contextmanager
def _environment() -> Iterator[None]:
    """Set up the server's environment.

    It finds this package by PYTHONPATH, not by our ``sys.path``. And torch iterates over sets of strings: a
    fixed hash seed keeps findings the same from one campaign to the next.
    """
    root = str(pathlib.Path(__file__).parents[2])
    before = dict(os.environ)
    path = before.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = root if not path else os.pathsep.join((root, path))
    os.environ.setdefault("PYTHONHASHSEED", "0")
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONHASHSEED"):
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def quiet(*, threads: int = 1, silent: bool = True) -> None:
    """Set up a child: one thread, no warnings or logs, Ctrl-C left to the parent.

    ``silent`` also closes stdout and stderr: a random model can make torch print a great deal.
    """
    import torch

    torch.set_num_threads(threads)
    # The source line of every node, for people to read: a twentieth of the time of a non-strict export.
    if hasattr(torch.fx.config, "do_not_emit_stack_traces"):
        torch.fx.config.do_not_emit_stack_traces = True
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if silent:
        with pathlib.Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)


class Workers:
    """A pool of such processes, each replaced by a fresh one after ``tasks_each`` tasks."""

    def __init__(self, count: int, *, tasks_each: int = 0, silent: bool = True) -> None:
        """Start nothing yet; the first ``submit`` does."""
        self._pool = ProcessPool(
            max_workers=count,
            max_tasks=tasks_each,
            initializer=_start,
            initargs=(silent,),
            context=server(),
        )

    def __enter__(self) -> Workers:
        """Leaving the block stops every process, whatever it is doing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the processes."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it unannotated
        self._pool.join()

    def submit(self, seconds: float, task: Callable[..., T], *args: object) -> Task[T]:
        """Queue ``task(*args)``; its time counts from when a worker takes it up."""
        return Task(self._pool.schedule(task, args=args, timeout=seconds), seconds)


class Task(Generic[T]):
    """A queued task."""

    def __init__(self, future: ProcessFuture[T], seconds: float) -> None:
        """Made by ``Workers.submit``."""
        self._future = future
        self._seconds = seconds

    def wait(self, stop: Event | None = None) -> T | Death | Failure:
        """The answer, or what became of the task; raises Stopped soon after ``stop`` is set."""
        while not self._future.done():
            if stop is not None and stop.is_set():
                self._future.cancel()  # type: ignore[no-untyped-call]  # likewise
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


def exit_reason(code: int | None) -> str:
    """``-11`` reads SIGSEGV, ``3`` reads exit code 3."""
    if code is not None and code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"


def call_fresh(seconds: float, task: Callable[..., T], *args: object) -> T | Death | Failure:
    """``task(*args)`` in a process of its own, whatever that process does to itself."""
    receiver, sender = server().Pipe(duplex=False)
    process = server().Process(target=_answer, args=(sender, task, args))
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return Death("hang", f"no answer within {seconds:g} s")
        answer: T | Failure = receiver.recv()
        return answer
    except EOFError:
        process.join(POLL_SECONDS)
        return Death("abort", exit_reason(process.exitcode))
    finally:
        end(process)


class ReusableWorker:
    """One process that does one task after the other, and is replaced when a task takes it down."""

    def __init__(self) -> None:
        """Start nothing yet; the first ``ask`` does."""
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> ReusableWorker:
        """Leaving the block stops the process, whatever it is doing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the process."""
        self.stop()

    @property
    def is_new(self) -> bool:
        """Whether the next task starts a process, which has everything to warm up."""
        return self._process is None

    def ask(self, seconds: float, task: Callable[..., T], *args: object) -> T | Death | Failure:
        """``task(*args)`` in that process. Whatever interrupts the wait ends the process as well."""
        if self._process is None or self._pipe is None:
            self._pipe, theirs = server().Pipe()
            self._process = server().Process(target=_serve, args=(theirs,))
            self._process.start()
            theirs.close()
        try:
            self._pipe.send((task, args))
            if self._pipe.poll(seconds):
                answer: T | Failure = self._pipe.recv()
                return answer
        except (EOFError, OSError):
            self._process.join(POLL_SECONDS)
            code = self._process.exitcode
            self.stop()
            return Death("abort", exit_reason(code))
        except BaseException:
            self.stop()
            raise
        self.stop()
        return Death("hang", f"no answer within {seconds:g} s")

    def stop(self) -> None:
        """End the process; the next task starts another."""
        if self._process is not None:
            end(self._process)
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _serve(pipe: Connection) -> None:
    os.setpgid(0, 0)
    _start(silent=True)
    while True:
        try:
            task, args = pipe.recv()
        except EOFError:  # whoever asked is gone
            return
        answer: object
        try:
            answer = task(*args)
        except Exception as error:
            answer = Failure(RuntimeError("".join(traceback.format_exception(error))))
        pipe.send(answer)


def end(process: BaseProcess) -> None:
    """End a child that leads a process group, and whatever it started."""
    if process.is_alive():
        process.kill()
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()


def _answer(sender: Connection, task: Callable[..., object], args: tuple[object, ...]) -> None:
    os.setpgid(0, 0)
    quiet(silent=False)
    # What the task prints must not mix with what we print.
    os.dup2(2, 1)
    answer: object
    try:
        answer = task(*args)
    except Exception as error:
        answer = Failure(RuntimeError("".join(traceback.format_exception(error))))
    sender.send(answer)


def _start(silent: bool) -> None:
    quiet(silent=silent)
    # Exporting makes garbage all the time: left to itself the collector takes a sixth of the run. The
    # tasks call it instead, between two programs (see ``work.run_batch``).
    gc.disable()

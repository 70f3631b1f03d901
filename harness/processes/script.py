"""Runs a file as a script in a fresh process that has torch imported."""

from __future__ import annotations

import io
import os
import pathlib
import runpy
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.processes.pool import end, exit_reason, quiet, server

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    Within = Callable[[], AbstractContextManager[None]]

SECONDS = 120.0
"""Time limit of one file. A file that shows a hang has a shorter one of its own inside."""
RAISED = 70
"""Exit code for a file that raises: Python's own, 1, means that the bug is there."""


@dataclass(frozen=True)
class Run:
    """What a file did when run as a script."""

    code: int | None
    """Exit code, negative for a signal; None when it hit the time limit."""
    output: str
    """What it printed; for a file that raised, the exception and its line."""

    @property
    def problem(self) -> str:
        """Why the run tells nothing about the bug; empty if it does."""
        if self.code in (0, 1):
            return ""
        if self.code is None:
            return "does not end within the time limit"
        if self.code == RAISED:
            return self.last_line
        return f"ends in {exit_reason(self.code)}"

    @property
    def last_line(self) -> str:
        """The line that says what the file found."""
        lines = self.output.strip().splitlines()
        return lines[-1] if lines else ""


def run_file(
    file: pathlib.Path, seconds: float = SECONDS, within: Within = nullcontext, beside: str = ""
) -> Run:
    """Run a file as ``__main__`` in a process of its own, with torch loaded and nothing run.

    The file runs inside of the block that ``within`` opens in that process; if opening it raises, the run
    ends with exit code 70. ``within`` is pickled. The file can import the modules of the folder ``beside``.
    """
    # By name, not by descriptor: a fork server's children inherit no descriptors of ours.
    with tempfile.NamedTemporaryFile(prefix="exportdiff-") as log:
        process = server().Process(target=_run, args=(str(file), log.name, within, beside))
        process.start()
        try:
            process.join(seconds)
            late = process.is_alive()
        finally:
            end(process)
        text = pathlib.Path(log.name).read_text(errors="replace")
    return Run(None if late else process.exitcode, text)


def _run(file: str, log: str, within: Within, beside: str) -> None:
    os.setpgid(0, 0)
    quiet(silent=False)
    with pathlib.Path(log).open("wb") as target:
        os.dup2(target.fileno(), 1)
        os.dup2(target.fileno(), 2)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
    sys.stderr = sys.stdout
    sys.argv = [file]
    if beside:
        sys.path.insert(0, beside)
    try:
        with within():
            runpy.run_path(file, run_name="__main__")
    except SystemExit:
        raise
    except BaseException as error:
        print(f"{type(error).__name__}: {_one_line(error)}{_place(error, file)}")
        sys.exit(RAISED)


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""


def _place(error: BaseException, file: str) -> str:
    """Return the line of the file that raised, for people who will look there."""
    if isinstance(error, SyntaxError):
        return "" if f"line {error.lineno}" in str(error) else f" (line {error.lineno})"
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line})"

"""Runs a file as a script in a fresh process that has torch imported."""

from __future__ import annotations

import io
import pathlib
import runpy
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.child import Child, Death, ended_from_outside, exit_reason
from exportdiff.runtime.processes.missing_in_torch import torch_lacks_it

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection

    Within = Callable[[], AbstractContextManager[None]]

SECONDS = 120.0
"""Time limit of one file. A file that shows a hang sets a shorter limit itself."""
RAISED = 70
"""Exit code of a file that raises an exception: Python's own, 1, means that the bug is there."""
LACKING = 71
"""Exit code of a file that raises an exception because this torch lacks something that the file names."""


@dataclass(frozen=True)
class Run:
    """What a file did when run as a script."""

    code: int | None
    """Exit code, negative for a signal; None: it was ended because it reached a limit."""
    output: str
    """What it printed; for a file that raised, the exception and its line."""
    limit: str = "no end within the time limit"
    """If there is no exit code: which limit it reached."""

    @property
    def problem(self) -> str:
        """Why the run does not show whether the bug is there; empty if it does."""
        if self.code in (0, 1):
            return ""
        if self.code is None:
            return self.limit
        if self.code in (RAISED, LACKING):
            return self.last_line
        return f"ends in {exit_reason(self.code)}"

    @property
    def interrupted(self) -> bool:
        """Whether something else ended it, so that it says nothing about the file; see ended_from_outside."""
        return ended_from_outside(self.code)

    @property
    def last_line(self) -> str:
        """The line that says what the file found."""
        lines = self.output.strip().splitlines()
        return lines[-1] if lines else ""


def run_file(
    file: pathlib.Path, seconds: float = SECONDS, within: Within = nullcontext, import_folder: str = ""
) -> Run:
    """Run a file as ``__main__`` in a fresh process that has torch imported.

    A file that raises an exception exits with 70; with 71 if this torch lacks something that the file names.
    The file runs inside the block that ``within`` opens in that process; if opening it raises, the exit code
    is 70. ``within`` is pickled. The file can import the modules of the folder ``import_folder``.
    """
    # By name, not by descriptor: the children of a fork server inherit no descriptors of ours.
    with tempfile.NamedTemporaryFile(dir=scratch.folder()) as log:
        output = pathlib.Path(log.name)
        with Child(run_as_main, str(file.absolute()), within, import_folder, output=output) as child:
            end = child.wait(seconds)
        printed = output.read_text(errors="replace")
        return Run(None, printed, end.reason) if isinstance(end, Death) else Run(end, printed)


def run_as_main(pipe: Connection, file: str, within: Within = nullcontext, import_folder: str = "") -> None:
    """Run a file as ``__main__`` in this child process, and exit as the file does; see run_file."""
    pipe.close()  # a script only prints and exits
    # Unbuffered: what a script printed before it crashed is in the file.
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
    sys.stderr = sys.stdout
    sys.argv = [file]
    if import_folder:
        sys.path.insert(0, import_folder)
    try:
        with within():
            runpy.run_path(file, run_name="__main__")
    except SystemExit:
        raise
    except BaseException as error:
        print(f"{type(error).__name__}: {_one_line(error)}{_place(error, file)}")
        sys.exit(LACKING if torch_lacks_it(error, file) else RAISED)


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""


def _place(error: BaseException, file: str) -> str:
    """Return where in the file the exception was raised, as `` (line 9)``."""
    if isinstance(error, SyntaxError):
        return "" if f"line {error.lineno}" in str(error) else f" (line {error.lineno})"
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return "" if line is None else f" (line {line})"

"""Runs many files as scripts in one process, for a third of what a process for each of them costs."""

from __future__ import annotations

import contextlib
import io
import pathlib
import runpy
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal

import torch

from exportdiff.runtime.observing.freeing_programs import clean_state
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.patching.fixes import find_functions
from exportdiff.runtime.processes.child import Child, set_up
from exportdiff.runtime.processes.script import RAISED, SECONDS, Run, run_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from multiprocessing.connection import Connection
    from types import TracebackType

    from exportdiff.runtime.patching.fix import Fix
    from exportdiff.runtime.processes.script import Within


class ScriptsInTurn:
    """Runs files as ``run_file`` does, but in one process.

    A file that does not do what it should runs again in a process of its own, which decides: a file before it
    may have changed torch. After that, and after the death of the process, the next file begins another one.
    """

    def __init__(self, fixes: Collection[Fix] = ()) -> None:
        """Start nothing yet. ``fixes``: those that files run with, to find their functions at once."""
        self._child: Child | None = None
        self._fixes = tuple(fixes)

    def run(self, file: pathlib.Path, within: Within = nullcontext, *, fine: Callable[[Run], bool]) -> Run:
        """Run a file inside the block that ``within`` opens; ``fine`` says whether it does what it should."""
        if self._child is None:
            self._child = Child(_serve, self._fixes)
        self._child.send((str(file), within))
        answer = self._child.receive(SECONDS)
        if isinstance(answer, Run) and fine(answer):
            return answer
        self.end()
        return run_file(file, within=within)

    def end(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.end()
        self._child = None

    def __enter__(self) -> ScriptsInTurn:
        """Do nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> Literal[False]:
        """End the process."""
        self.end()
        return False


def _serve(pipe: Connection, fixes: tuple[Fix, ...]) -> None:
    set_up(pathlib.Path("output"))
    find_functions(fixes)
    with contextlib.suppress(EOFError):
        while True:
            pipe.send(_run(*pipe.recv()))


def _run(file: str, within: Within) -> Run:
    printed = io.StringIO()
    hook = sys.excepthook
    output, errors = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    with clean_state(), restore_modes(), output, errors:
        torch.manual_seed(0)
        try:
            with within():
                runpy.run_path(file, run_name="__main__")
            code = 0
        except SystemExit as end:
            code = _exit_code(end.code)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}")
            code = RAISED
        finally:
            sys.excepthook = hook
    return Run(code, printed.getvalue())


def _exit_code(code: object) -> int:
    """Return the exit code of Python after ``sys.exit(code)``; a text is printed."""
    if isinstance(code, int):
        return int(code)
    if code is not None:
        print(code, file=sys.stderr)
    return 0 if code is None else 1

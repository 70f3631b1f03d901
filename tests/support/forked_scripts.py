"""Runs many files as scripts, each in a process of its own, for a third of what starting each one costs.

One child of the fork server prepares (it holds the fixes once, which imports what they change and finds it),
and forks a process for each file. So a file still starts where nothing has run, and cannot affect the next.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pathlib
import signal
import tempfile
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.processes.child import Child, Death, set_up
from exportdiff.runtime.processes.script import SECONDS, Run, run_as_main

if TYPE_CHECKING:
    from collections.abc import Collection
    from multiprocessing.connection import Connection

    from exportdiff.runtime.patching.fix import Fix
    from exportdiff.runtime.processes.script import Within


class ForkedScripts:
    """Runs files as ``run_file`` does; ``end`` ends the process that forks.

    With ``fixes``, the process that forks has imported what they change. Without, it has run nothing.
    """

    def __init__(self, fixes: Collection[Fix] = ()) -> None:
        """Start the process that forks."""
        self._child = Child(_serve, tuple(fixes))

    def run(self, file: pathlib.Path, within: Within = nullcontext) -> Run:
        """Run a file as ``__main__``, inside the block that ``within`` opens in its process."""
        with tempfile.NamedTemporaryFile(prefix="exportdiff-") as log:
            output = pathlib.Path(log.name)
            self._child.send((str(file), output, within))
            code = self._child.receive(2 * SECONDS)
            assert not isinstance(code, Death), f"the process that forks died: {code.reason}"
            return Run(code, output.read_text(errors="replace"))

    def end(self) -> None:
        """End the process that forks."""
        self._child.end()


def _serve(pipe: Connection, fixes: tuple[Fix, ...]) -> None:
    if fixes:
        with applied(fixes):
            pass
        gc.collect()
        gc.freeze()  # holding fixes unfreezes what the fork server froze
    with suppress(EOFError):
        while True:
            pipe.send(_exit_code(*pipe.recv()))


def _exit_code(file: str, output: pathlib.Path, within: Within) -> int | None:
    process = multiprocessing.get_context("fork").Process(target=_run, args=(file, output, within))
    process.start()
    process.join(SECONDS)
    code = process.exitcode
    assert process.pid is not None
    if code is None:
        process.kill()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return code


def _run(file: str, output: pathlib.Path, within: Within) -> None:
    os.setpgid(0, 0)
    set_up(output)
    mine, _ = multiprocessing.Pipe()
    run_as_main(mine, file, within)

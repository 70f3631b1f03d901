"""Confirms a repro file: runs its text in a fresh process."""

from __future__ import annotations

import pathlib
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.portable_messages import without_process_details
from exportdiff.runtime.processes import scratch
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    from exportdiff.runtime.processes.script import Within


@dataclass(frozen=True)
class Confirmation:
    """Whether a repro file showed its bug."""

    confirmed: bool
    reason: str
    """What it printed, or why it does not count."""
    code: int | None = None
    """The exit code; None if it is not known."""


def confirm(source: str, import_folder: str = "", within: Within = nullcontext) -> Confirmation:
    """Run the text of a repro file in a fresh process.

    It may import the modules of the folder ``beside``. ``within`` opens a block around the run, which
    installs fixes.
    """
    with scratch.make() as folder:
        file = pathlib.Path(folder, "repro.py")
        file.write_text(source)
        run = run_file(file, within=within, import_folder=import_folder)
    return Confirmation(run.code == 1, without_process_details(run.problem or run.last_line), run.code)

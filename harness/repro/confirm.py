"""Confirms a repro file: the very text that is handed out is run in a fresh process."""

from __future__ import annotations

import pathlib
import tempfile
from dataclasses import dataclass

from harness.processes.script import run_file


@dataclass(frozen=True)
class Confirmation:
    """Whether a repro file showed its bug."""

    confirmed: bool
    reason: str
    """What it printed, or why it does not count."""


def confirm(source: str, beside: str = "") -> Confirmation:
    """Run the text of a repro file in a fresh process; as if in a folder, whose modules it may import."""
    with tempfile.TemporaryDirectory(prefix="exportdiff-") as folder:
        file = pathlib.Path(folder, "repro.py")
        file.write_text(source)
        run = run_file(file, beside=beside)
    return Confirmation(run.code == 1, run.problem or run.last_line)

"""Runs a file as a script in this process, where a fault may be planted."""

from __future__ import annotations

import contextlib
import io
import pathlib
import runpy
import sys

import pytest

from exportdiff.runtime.observing.caches import nothing_cached
from exportdiff.runtime.observing.process_state import restore_modes


def run_script(file: pathlib.Path) -> tuple[object, str]:
    """Return what the file exits with, and what it prints."""
    printed = io.StringIO()
    quiet = contextlib.redirect_stdout(printed)
    before = sys.excepthook
    with restore_modes(), nothing_cached(), quiet, pytest.raises(SystemExit) as end:
        try:
            runpy.run_path(str(file), run_name="__main__")
        finally:
            sys.excepthook = before
    return end.value.code, printed.getvalue()

"""Starts recording in a process of any command, when it imports torch. Imports no torch."""

from __future__ import annotations

import atexit
import os

from exportdiff.interfaces.suites.after_import import after_import
from exportdiff.interfaces.suites.session import JudgeSettings

VARIABLE = "EXPORTDIFF_JUDGE"
"""The environment variable with the settings for the processes of a command."""
LAST = "torch.export"
"""The module of torch after whose import functions can be replaced. ``import torch`` imports it."""


def record_when_torch_is_imported() -> None:
    """Begin as soon as torch is there; do nothing if the environment has no settings."""
    if VARIABLE not in os.environ:
        return
    settings = JudgeSettings.from_text(os.environ[VARIABLE])

    def begin() -> None:
        recorder = settings.recorder()
        recorder.install()
        atexit.register(recorder.finish)

    after_import(LAST, begin)

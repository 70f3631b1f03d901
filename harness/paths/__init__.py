"""Paths: what ways there are to run a case, and running one along them."""

from harness.paths.execute import observe_eager
from harness.paths.modes import MODES
from harness.paths.path import Path, all_paths, available_devices, select_paths
from harness.paths.runners import RUNNERS
from harness.paths.stopwatch import Stopwatch
from harness.paths.tree import observe_paths

__all__ = [
    "MODES",
    "RUNNERS",
    "Path",
    "Stopwatch",
    "all_paths",
    "available_devices",
    "observe_eager",
    "observe_paths",
    "select_paths",
]

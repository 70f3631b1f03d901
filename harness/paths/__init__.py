"""Paths: what ways there are to run a case, and running one along them."""

from harness.paths.modes import MODES
from harness.paths.path import EXPENSIVE, Path, all_paths, available_devices, core_paths, select_paths
from harness.paths.run.exported import observe_eager
from harness.paths.run.tree import observe_paths
from harness.paths.runners import RUNNERS
from harness.paths.stopwatch import Stopwatch
from harness.paths.transforms.apply import applies, reference_case

__all__ = [
    "EXPENSIVE",
    "MODES",
    "RUNNERS",
    "Path",
    "Stopwatch",
    "all_paths",
    "applies",
    "available_devices",
    "core_paths",
    "observe_eager",
    "observe_paths",
    "reference_case",
    "select_paths",
]

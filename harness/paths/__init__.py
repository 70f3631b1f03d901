"""Paths: which ways there are to run a case, and running a case along them."""

from harness.path import Path
from harness.paths.catalog import (
    EXPENSIVE,
    all_paths,
    available_devices,
    core_paths,
    cost,
    is_core,
    parse,
    place,
    promise,
    same_operators,
    select_paths,
    stem,
    variation,
)
from harness.paths.modes import MODES
from harness.paths.run.eager import observe_eager
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
    "cost",
    "is_core",
    "observe_eager",
    "observe_paths",
    "parse",
    "place",
    "promise",
    "reference_case",
    "same_operators",
    "select_paths",
    "stem",
    "variation",
]

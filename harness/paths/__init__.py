"""Paths: which ways there are to run a case (without torch), and in ``run/`` running a case along them."""

from harness.path import Path
from harness.paths.catalog import (
    EXPENSIVE,
    all_paths,
    available_devices,
    core_paths,
    cost,
    is_core,
    is_listed,
    lacks,
    left_out,
    place,
    promise,
    same_operators,
    select_paths,
    stem,
    variation,
)
from harness.paths.modes import MODES
from harness.paths.parsing import parse
from harness.paths.runners import RUNNERS

__all__ = [
    "EXPENSIVE",
    "MODES",
    "RUNNERS",
    "Path",
    "all_paths",
    "available_devices",
    "core_paths",
    "cost",
    "is_core",
    "is_listed",
    "lacks",
    "left_out",
    "parse",
    "place",
    "promise",
    "same_operators",
    "select_paths",
    "stem",
    "variation",
]

"""Paths: the ways to run a case.

``modes``, ``runners`` and ``transforms`` are tables, ``catalog`` lists the paths that they form; none of them
imports torch. ``run`` runs a case along paths, ``read`` reads exported programs without running them.
"""

from exportdiff.core.path import Path
from exportdiff.runtime.paths.catalog import (
    EXPENSIVE,
    all_paths,
    available_devices,
    core_paths,
    cost,
    eager_key,
    export_key,
    is_listed,
    lacks,
    left_out,
    list_index,
    loads,
    promise,
    same_operators,
    select_paths,
)
from exportdiff.runtime.paths.modes import MODES
from exportdiff.runtime.paths.parsing import parse
from exportdiff.runtime.paths.runners import RUNNERS

__all__ = [
    "EXPENSIVE",
    "MODES",
    "RUNNERS",
    "Path",
    "all_paths",
    "available_devices",
    "core_paths",
    "cost",
    "eager_key",
    "export_key",
    "is_listed",
    "lacks",
    "left_out",
    "list_index",
    "loads",
    "parse",
    "promise",
    "same_operators",
    "select_paths",
]

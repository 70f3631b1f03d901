"""What works on plain torch works on mended torch: over PyTorch's own databases of models."""

from __future__ import annotations

import importlib.util

import pytest

from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.in_child import call_fresh
from support.databases import Compared, compare
from support.folders import CORPORA
from support.of_this_torch import skip_unless_tried

PATHS = ["nonstrict:module", "nonstrict:unflatten", "nonstrict+decompose:module", "nonstrict+reload:module"]
PATHS += ["strict:module", "strict:unflatten"]

SECONDS = 1200.0

PARTS = {"export_db": 1, "operators": 1, "modules": 8, "ordinary": 2}
"""Into how many parts a database is split, so that several processes judge it."""


def right_on_mended_torch(database: str, part: slice, paths: list[str]) -> Compared:
    """Judge a part of a database in a process of its own; fail if a fix breaks a path."""
    if database in ("operators", "modules") and importlib.util.find_spec("expecttest") is None:
        pytest.skip("PyTorch's database needs expecttest")
    skip_unless_tried()
    found = call_fresh(SECONDS, compare, database, part, select_paths(paths), CORPORA)
    assert isinstance(found, Compared), found
    lines = [f"{each.case}, {each.path}: {each.message}" for each in found.broken]
    assert not lines, "\n".join(lines)
    return found


def test_the_fixes_break_no_model_of_a_database() -> None:
    found = right_on_mended_torch("export_db", slice(0, None, 4), PATHS[:1] + PATHS[4:5])
    assert found.right > found.valid > 3


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("database", "part"), [(name, part) for name, parts in PARTS.items() for part in range(parts)]
)
def test_the_fixes_break_no_model_of_any_database(database: str, part: int) -> None:
    found = right_on_mended_torch(database, slice(part, None, PARTS[database]), PATHS)
    assert found.right > found.valid > 3

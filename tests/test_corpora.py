"""The corpus, replayed: every file does what its header says, on this torch."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.case import case_from_source
from harness.cli.replay import outcome
from harness.confirm import run_file
from harness.corpus import find_files, read_entry
from harness.paths import Path as Route
from harness.paths import core_paths
from harness.work import judge_case

CORPORA = Path(__file__).parents[1] / "corpora"
FILES = list(find_files([CORPORA]))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CORPORA)))
def test_file_is_as_recorded(file: Path) -> None:
    entry = read_entry(file)
    assert not entry.problem
    assert outcome(entry, run_file(file))[0] == "as recorded"


OUT_OF_SIGHT = {"failed_export_draws_random_numbers", "unflatten_leaves_program_uncopyable"}
"""What the harness cannot show: by then it has happened, or is kept from happening."""

OPEN = [file for file in find_files([CORPORA / "open"]) if file.stem not in OUT_OF_SIGHT]


@pytest.mark.parametrize("file", OPEN, ids=lambda file: file.stem)
def test_the_checks_report_an_open_bug_as_its_file_says(file: Path) -> None:
    """Each beginning of a signature in the header is that of a finding."""
    entry = read_entry(file)
    known = entry.signatures
    paths = dict.fromkeys((*core_paths(["cpu"]), Route.parse(entry.path)))
    # Of the calls that leave the spec, compiling makes a few only, and the bug may be in another one.
    case = replace(case_from_source(file.read_text()), thorough=entry.path.startswith("compile"))
    found = judge_case(case, tuple(paths)).findings
    assert known
    for start in known:
        assert any(finding.signature[: len(start)] == start for finding in found), start


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CORPORA)))
def test_file_imports_torch_and_nothing_of_this_project(file: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported - sys.stdlib_module_names == {"torch"}

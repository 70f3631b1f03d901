"""The table of versions in the header of a corpus file, and what follows from it."""

from __future__ import annotations

import pathlib

import pytest

from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.corpus.versions import Transition, age, versions, with_versions

FILE = """\
# /// script
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a title"
# status = "open"
# fix = "a_fix"
# ///

import torch


def make():
    return torch.nn.ReLU(), (torch.ones(1),)
"""
OLD = """\
# affected = [
#     "2.9.1",
#     "2.13.0",
# ]
# unaffected = ["2.14.1"]
# undecided = "2.5.1"
# regression-since = "2.9.1"
"""


def test_versions_are_sorted_by_age() -> None:
    expected = ["2.5.1", "2.9.1", "2.11.0", "2.15.0.dev20261101", "2.15.0.dev20261102", "2.15.0rc1", "2.15.0"]
    assert sorted(set(expected), key=age) == expected
    assert age("2.9.1+cpu") == age("2.9.1")


def test_a_bug_appears_and_is_fixed_and_shows_again() -> None:
    found = versions({"5": "shows", "1": "fixed", "2": "other", "3": "shows", "4": "fixed"})
    assert found.changes == (
        Transition("appeared", "1", "3"),
        Transition("fixed", "3", "4"),
        Transition("shows again", "4", "5"),
    )
    assert (found.on("shows"), found.fixed_in, found.not_yet_in) == (("3", "5"), (), ("1", "4"))
    assert (found.open, found.news) == (True, "shows again")
    before = found.up_to("4")
    assert (before.open, before.fixed_in, before.not_yet_in) == (False, ("4",), ("1",))


def test_the_newest_version_that_can_tell_decides_whether_a_bug_is_open() -> None:
    assert versions({}).open and versions({"1": "shows", "2": "cannot run"}).open
    assert not versions({"1": "shows", "2": "fixed", "3": "other"}).open


def test_a_table_is_written_at_the_end_of_the_header_and_read_again(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file.py"
    found = versions({"2.13.0": "shows", "2.9.1": "cannot run", "2.15.0": "fixed", "2.11.0": "other"})
    file.write_text(with_versions(FILE, found))
    entry = read_entry(file)
    assert (entry.versions, entry.fix, entry.problem) == (found, "a_fix", "")
    assert '# "2.15.0" = "fixed"\n# ///\n' in file.read_text()
    assert with_versions(file.read_text(), found) == file.read_text()
    assert with_versions(file.read_text(), versions({})) == FILE


def test_lists_in_old_files_are_understood_and_replaced(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(FILE.replace("# fix", OLD + "# fix"))
    rows = (("2.5.1", "other"), ("2.9.1", "shows"), ("2.13.0", "shows"), ("2.14.1", "fixed"))
    assert read_entry(file).versions.rows == rows
    new = with_versions(file.read_text(), read_entry(file).versions)
    assert new == with_versions(FILE, read_entry(file).versions)


def test_an_unknown_word_is_named(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(with_versions(FILE, versions({"2.9.1": "shows"})).replace("shows", "broken"))
    assert read_entry(file).problem == (
        "has 2.9.1 = 'broken' in [tool.exportdiff.versions]; expected shows, fixed, other, cannot run"
    )
    file.write_text(FILE.replace("# fix", "# versions = 3\n# fix"))
    assert "no table" in read_entry(file).problem
    file.write_text(FILE.replace("# fix", "# hash-seeds = 0\n# fix"))
    assert "hash-seeds 0" in read_entry(file).problem


def test_a_file_without_a_header_is_refused() -> None:
    with pytest.raises(ValueError, match="header"):
        with_versions("import torch\n", versions({}))

"""Writes a test file for PyTorch with one test for each bug: an expected failure until torch is mended."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from exportdiff.known.upstream.pytorch_test import ClassOfTests, method, new_file
from exportdiff.known.upstream.style import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.plain_program import PlainProgram

HOME = ClassOfTests("test/export/test_exportdiff.py", "TestExportdiff")


def expected_failures(programs: Iterable[tuple[Entry, PlainProgram]]) -> str:
    """Return the text of the test file."""
    return new_file(HOME, [_expected_failure(entry, program) for entry, program in programs])


def _expected_failure(entry: Entry, program: PlainProgram) -> str:
    """Return the test of a bug, below a comment with its id and title."""
    about = textwrap.wrap(
        f"{entry.id}: {entry.title}", COLUMNS - 4, initial_indent="# ", subsequent_indent="# "
    )
    return "\n".join([*about, "@unittest.expectedFailure", method(entry.name, program)])

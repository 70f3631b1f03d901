"""Writes a test file for PyTorch with one test for each bug: an expected failure until torch is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.known.upstream.pytorch_test import ClassOfTests, method, new_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.plain_program import PlainProgram

HOME = ClassOfTests("test/export/test_exportdiff.py", "TestExportdiff")


def expected_failures(programs: Iterable[tuple[Entry, PlainProgram]]) -> str:
    """Return the text of the test file."""
    return new_file(
        HOME, [f"@unittest.expectedFailure\n{method(e.name, program)}" for e, program in programs]
    )

"""Reads the files of ``--near``: named files, or the corpus."""

from __future__ import annotations

import ast
import shlex
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.program_text.parsing import parse
from exportdiff.fuzzing.near.model import Near, NearFile
from exportdiff.known.corpus.entry import OPEN, VARIANTS, find_files, read_entry
from exportdiff.repro.program import program_of
from exportdiff.runtime.paths import parse as parse_path

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.known.corpus.entry import Entry

WEIGHTS = {"A": 4, "B": 2, "C": 1, None: 1}
"""How often the file of a root cause is drawn, by its severity."""


def read_near(files: Sequence[pathlib.Path], corpora: pathlib.Path | None) -> Near:
    """Read the files; without any, those of the corpus. Raises UsageError."""
    if files:
        return Near(tuple(_read(file) for file in files), shlex.join(map(str, files)))
    if corpora is None:
        raise UsageError("--near: there is no corpus; name files, or the folder with --corpora")
    entries = [read_entry(file) for file in find_files([corpora / OPEN, corpora / VARIANTS])]
    return Near(tuple(_near(entry) for entry in entries if not entry.problem))


def _read(file: pathlib.Path) -> NearFile:
    entry = read_entry(file)
    if entry.problem:
        raise UsageError(f"--near: {file}: {entry.problem}")
    return _near(entry)


def _near(entry: Entry) -> NearFile:
    source = _without_docstring(program_of(entry.file.read_text(encoding="utf-8")))
    return NearFile(
        entry.name, source, parse_path(entry.path) if entry.path else None, WEIGHTS[entry.severity]
    )


def _without_docstring(source: str) -> str:
    """Leave out the docstring, which describes the known bug and not the program."""
    tree = parse(source)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.unparse(tree)

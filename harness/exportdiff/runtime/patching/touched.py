"""The functions of torch that a fix changes, as they are in the installed files."""

from __future__ import annotations

import ast
import hashlib
import pathlib
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.placing import added_at_top_level, edits_of
from exportdiff.runtime.patching.source import lines_of, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exportdiff.runtime.patching.fix import Hunk


def touched_functions(file: str, hunks: tuple[Hunk, ...]) -> Mapping[str, str] | None:
    """Return the functions around the lines that hunks change in a file, each with a digest of its text.

    None if a hunk does not fit the file. Raises OSError, SyntaxError.
    """
    lines = source_of(file).lines
    found = {}
    for hunk in hunks:
        edits = edits_of(lines, hunk)
        if edits is None and not added_at_top_level(hunk):
            return None
        for edit in edits or ():
            for name, span in _functions(file):
                if edit.start < span.stop and max(edit.stop, edit.start + 1) > span.start:
                    text = "\n".join(lines[span.start : span.stop])
                    found[name] = hashlib.sha256(text.encode()).hexdigest()[:12]
    return found


@cache
def _functions(file: str) -> tuple[tuple[str, range], ...]:
    return tuple(_outermost(ast.parse(pathlib.Path(file).read_text(encoding="utf-8")), ""))


def _outermost(node: ast.AST, prefix: str) -> Iterator[tuple[str, range]]:
    """Yield the functions of a module or class that are in no other function: names, and lines from 0."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = lines_of(child)
            yield f"{prefix}{child.name}", range(lines.start - 1, lines.stop - 1)
        elif isinstance(child, ast.ClassDef):
            yield from _outermost(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt):
            yield from _outermost(child, prefix)

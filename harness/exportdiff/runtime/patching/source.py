"""Reads the installed source files of torch: their lines and statements."""

from __future__ import annotations
import __future__

import ast
import pathlib
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Source:
    """One installed source file of torch."""

    lines: tuple[str, ...]
    statements: tuple[range, ...]
    """The lines (counted from 0) of each top-level statement, including decorators."""
    first_definition: int
    """The line of the first function or class; the imports are above it."""
    flags: int
    """The compiler flags of the file's ``from __future__`` imports."""


@cache
def source_of(file: str) -> Source:
    """Read a file; each process reads it once. Raises OSError, SyntaxError."""
    text = pathlib.Path(file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    futures = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    flags = sum(getattr(__future__, name).compiler_flag for name in futures)
    spans = (range(lines_of(node).start - 1, lines_of(node).stop - 1) for node in tree.body)
    lines = tuple(text.splitlines())
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    first = (lines_of(node).start - 1 for node in tree.body if isinstance(node, definitions))
    return Source(lines, tuple(spans), next(first, len(lines)), flags)


def lines_of(node: ast.stmt) -> range:
    """Return the lines of a statement (counted from 1), including decorators."""
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(d.lineno for d in decorators)]), (node.end_lineno or node.lineno) + 1)

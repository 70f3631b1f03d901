"""Reads the installed source files of torch: their lines and statements."""

from __future__ import annotations
import __future__

import ast
import pathlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


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
    first_lines: Mapping[str, int]
    """Where each function of the module or of its classes starts, counted from 1, by qualified name.

    A name that is defined twice is not there.
    """


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
    starts = Counter(name for name, _ in _functions(tree.body))
    first_lines = {name: line for name, line in _functions(tree.body) if starts[name] == 1}
    return Source(lines, tuple(spans), next(first, len(lines)), flags, first_lines)


def _functions(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[str, int]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", lines_of(node).start
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


def lines_of(node: ast.stmt) -> range:
    """Return the lines of a statement (counted from 1), including decorators."""
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(d.lineno for d in decorators)]), (node.end_lineno or node.lineno) + 1)

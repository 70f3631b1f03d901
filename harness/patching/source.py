"""A source file of torch as it is installed: its lines and the extent of its statements."""

from __future__ import annotations
import __future__

import ast
import pathlib
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Source:
    """A file of torch as it is."""

    lines: tuple[str, ...]
    statements: tuple[range, ...]
    """The lines (from 0) of each of its statements, decorators included."""
    flags: int
    """What its ``from __future__ import`` mean to a compiler."""


@cache
def source_of(file: str) -> Source:
    """Read a file once per process. Raises OSError, SyntaxError."""
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
    return Source(tuple(text.splitlines()), tuple(spans), flags)


def lines_of(node: ast.stmt) -> range:
    """Return the lines of a statement, counted from 1, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return range(min([node.lineno, *(d.lineno for d in decorators)]), (node.end_lineno or node.lineno) + 1)

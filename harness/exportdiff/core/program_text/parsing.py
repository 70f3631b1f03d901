"""Parses source text, in one thread at a time."""

from __future__ import annotations

import ast
import threading

_ONE = threading.Lock()
"""Before 3.11.8 and 3.12.2, Python raises SystemError if two threads parse at the same time, because all
parsers of a process share one recursion counter (github.com/python/cpython/issues/106905)."""


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a module. Raises SyntaxError; ValueError for a null byte."""
    with _ONE:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """Return the syntax tree of an expression. Raises SyntaxError; ValueError for a null byte."""
    with _ONE:
        return ast.parse(source, mode="eval").body

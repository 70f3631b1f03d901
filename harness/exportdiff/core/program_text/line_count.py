"""Counts the lines of code of a file."""

from __future__ import annotations

import ast
import io
import tokenize

from exportdiff.core.program_text.parsing import parse

LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""The types of tokens that are no code."""


def code_lines(source: str) -> int:
    """Count the lines other than blank lines, comments and docstrings. Raises SyntaxError."""
    docstrings: set[int] = set()
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            docstrings |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)

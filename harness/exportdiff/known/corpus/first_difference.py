"""Reads the mark of the line at which the wrong value of a corpus entry first appears."""

from __future__ import annotations

import ast

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.entry import WORKAROUND, WRONG_CALL

MARK = "# first difference"
"""The comment at the end of the line."""

_NOT_MODEL = {"show", "dynamic_shapes", "probes", *WORKAROUND, WRONG_CALL}
"""Functions of an entry that are not the code of its model."""


def marked_lines(source: str) -> tuple[int, ...]:
    """Return the numbers of the lines that have the mark."""
    lines = enumerate(source.splitlines(), 1)
    return tuple(number for number, line in lines if line.endswith(MARK))


def wrong_mark(source: str) -> str:
    """Return what is wrong with the marks of this source; empty if there is one in the model, or none."""
    lines = marked_lines(source)
    if len(lines) > 1:
        return f"marks {len(lines)} lines with {MARK!r}; at most one is the first"
    models = [node for node in parse(source).body if _is_model(node)]
    if not all(any(node.lineno <= line <= (node.end_lineno or 0) for node in models) for line in lines):
        return f"marks line {lines[0]} with {MARK!r}, which is not in the code of the model"
    return ""


def _is_model(node: ast.stmt) -> bool:
    """Whether a statement of the module is a class, or a function that the model calls or that makes it."""
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name not in _NOT_MODEL

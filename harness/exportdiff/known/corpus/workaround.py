"""Reads the workaround of a corpus entry: what a user writes instead, so that this torch does it right."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.changed_lines import changed_lines, own_lines
from exportdiff.known.corpus.entry import WORKAROUND
from exportdiff.known.corpus.first_difference import MARK, marked_lines
from exportdiff.known.corpus.mechanical import edit_that_makes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.known.corpus.entry import Entry

MODEL, OPTIONS, CALL = WORKAROUND


@dataclass(frozen=True)
class Workaround:
    """What a user can do about a known bug."""

    advice: str
    """What to do, in a sentence. Without code: why there is no workaround."""
    code: str = ""
    """The changed lines, with ``-`` and ``+`` before them, or the options, or the call. Empty: none."""
    changes_first: bool = False
    """Whether it changes the line at which the wrong value first appears."""
    edit: str = ""
    """The edit of one statement (mechanical.py) that makes it of the line of the first difference, if any."""
    options: tuple[tuple[str, str], ...] = ()
    """The keyword arguments for export, each with the text of its value."""

    @property
    def text(self) -> str:
        """The advice and the code, for people."""
        if not self.code:
            return f"none: {self.advice}"
        return f"{self.advice.removesuffix('.')}:\n{textwrap.indent(self.code, '    ')}"


def read_workaround(entry: Entry) -> Workaround | None:
    """Return the workaround of an entry; None if its header says nothing about one."""
    if entry.no_workaround:
        return Workaround(entry.no_workaround)
    if not entry.has_workaround:
        return None
    source = entry.file.read_text(encoding="utf-8")
    functions = _functions(source)
    advice = next(filter(None, map(ast.get_docstring, functions.values())), "")
    code: list[str] = []
    options: tuple[tuple[str, str], ...] = ()
    if MODEL in functions:
        code += changed_lines(source, functions[MODEL])
    if OPTIONS in functions:
        options = _keywords(source, functions[OPTIONS])
        keywords = ", ".join(f"{name}={value}" for name, value in options)
        code.append(f"torch.export.export(..., {keywords})")
    if CALL in functions:
        code += own_lines(source, functions[CALL])
    first = _changes_first(source, code)
    edit = edit_that_makes(code) if first else ""
    return Workaround(" ".join(advice.split()), "\n".join(code), first, edit, options)


def _changes_first(source: str, code: Iterable[str]) -> bool:
    """Whether one of the changed lines is the one with the mark of the first difference."""
    lines = source.splitlines()
    first = {lines[number - 1].removesuffix(MARK).strip() for number in marked_lines(source)}
    return any(line[:1] == "-" and line[1:].strip() in first for line in code)


def defined(source: str) -> tuple[str, ...]:
    """Return the names of the functions of the workaround that a source defines."""
    return tuple(_functions(source))


def without_workaround(source: str) -> str:
    """Return the source of an entry without its workaround, which is not part of the program.

    A text that is not Python is returned as it is.
    """
    try:
        functions = _functions(source)
    except (SyntaxError, ValueError):
        return source
    lines = source.splitlines(keepends=True)
    for node in reversed(functions.values()):
        end = node.end_lineno or 0
        while end < len(lines) and not lines[end].strip():
            end += 1
        del lines[node.lineno - 1 : end]
    return "".join(lines)


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of the workaround, in the order of the source. Raises SyntaxError."""
    functions = (node for node in parse(source).body if isinstance(node, ast.FunctionDef))
    return {node.name: node for node in functions if node.name in (MODEL, OPTIONS, CALL)}


def _keywords(source: str, options: ast.FunctionDef) -> tuple[tuple[str, str], ...]:
    """Return the keyword arguments that the function returns as a dict, with the text of each value."""
    (returned,) = (node.value for node in ast.walk(options) if isinstance(node, ast.Return))
    assert isinstance(returned, ast.Dict)
    pairs = zip(returned.keys, returned.values, strict=True)
    return tuple(
        (ast.literal_eval(key), ast.get_source_segment(source, value) or "")
        for key, value in pairs
        if key is not None
    )

"""Finds the lines in which the model of a workaround differs from the model of its entry."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from typing import TYPE_CHECKING

from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.first_difference import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def changed_lines(source: str, workaround: ast.FunctionDef) -> list[str]:
    """Return the lines of the entry that the workaround lacks, with ``-``, and its own lines, with ``+``.

    A class of the workaround replaces its base class, or the most similar class with the same base class. Of
    a class with methods, each method is compared; of another, the whole class.
    """
    tree = parse(source)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    new_classes = [node for node in workaround.body if isinstance(node, ast.ClassDef)]
    pairs = [(_replaced(source, new, classes), new) for new in new_classes]
    names = {new.name: old.name for old, new in pairs if old is not None}
    (make,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "make")
    parts = [part for old, new in pairs for part in _parts(source, old, new)]
    inputs = _returned_by(source, make)
    statements = _statements(source, workaround)
    parts.append((_statements(source, make), [_with_inputs(line, inputs) for line in statements]))
    return [line for before, after in parts for line in _diff(before, _renamed(after, names))]


def _returned_by(source: str, make: ast.FunctionDef) -> list[str]:
    """Return the text of each value that ``make`` returns."""
    returned = make.body[-1]
    if not isinstance(returned, ast.Return) or not isinstance(returned.value, ast.Tuple):
        return []
    return [ast.get_source_segment(source, each) or "" for each in returned.value.elts]


def _with_inputs(line: str, returned: Sequence[str]) -> str:
    """Replace ``make()[1]`` by what ``make`` returns there, which is no change."""
    for number, text in enumerate(returned):
        line = line.replace(f"make()[{number}]", text)
    return line


def own_lines(source: str, function: ast.FunctionDef) -> list[str]:
    """Return the lines of a function without its docstring."""
    first = function.body[0]
    head = source.splitlines()[function.lineno - 1 : first.lineno - 1]
    return [*head, *textwrap.indent("\n".join(_statements(source, function)), "    ").splitlines()]


def _replaced(source: str, new: ast.ClassDef, classes: Sequence[ast.ClassDef]) -> ast.ClassDef | None:
    """Return the class of the entry that a class of the workaround replaces; None for an additional class."""
    bases = _bases(new)
    alike = [each for each in classes if each.name in bases] or [
        each for each in classes if _bases(each) == bases
    ]
    text = _lines(source, new)
    return max(
        alike,
        key=lambda each: difflib.SequenceMatcher(None, _lines(source, each), text).ratio(),
        default=None,
    )


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base) for base in node.bases]


def _parts(source: str, old: ast.ClassDef | None, new: ast.ClassDef) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the lines of each method before and after; or all lines of the class."""
    before = {} if old is None else _methods(old)
    methods = _methods(new)
    for name, node in methods.items():
        yield (_lines(source, before[name]) if name in before else []), _lines(source, node)
    if not methods:
        yield ([] if old is None else _body(source, old.body)), _body(source, new.body)


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def _statements(source: str, function: ast.FunctionDef) -> list[str]:
    """Return the lines of the statements of a function, without its docstring and classes."""
    skipped = 1 if ast.get_docstring(function) is not None else 0
    return _body(source, [node for node in function.body[skipped:] if not isinstance(node, ast.ClassDef)])


def _body(source: str, nodes: Sequence[ast.stmt]) -> list[str]:
    return [line for node in nodes for line in _lines(source, node)]


def _lines(source: str, node: ast.stmt) -> list[str]:
    """Return the lines of a statement with its decorators, without blank lines, indentation and the mark."""
    start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    text = textwrap.dedent("\n".join(source.splitlines()[start - 1 : node.end_lineno]))
    return [line.removesuffix(MARK).rstrip() for line in text.splitlines() if line.strip()]


def _renamed(lines: list[str], names: Mapping[str, str]) -> list[str]:
    """Replace the names of the workaround's classes by those of the classes that they replace."""
    for new, old in names.items():
        lines = [re.sub(rf"\b{re.escape(new)}\b", old, line) for line in lines]
    return lines


def _diff(before: list[str], after: list[str]) -> list[str]:
    """Return the lines that differ; of lines that replace others, first those that go."""
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [
        line
        for kind, i, j, k, m in changes
        if kind != "equal"
        for line in (*(f"- {gone}" for gone in before[i:j]), *(f"+ {come}" for come in after[k:m]))
    ]

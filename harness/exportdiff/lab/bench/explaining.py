"""Which entry of the table of unreached lines holds for which line."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.lab.bench.unreached import BEYOND, UNREACHED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from exportdiff.lab.bench.unreached import Unreached


@dataclass(frozen=True)
class Explained:
    """Lines of one function that a campaign did not run, and the entry for them; None: there is none."""

    function: str
    lines: tuple[int, ...]
    entry: Unreached | None


@dataclass(frozen=True)
class _Statement:
    function: str
    text: str
    """Its own text, after that of the statements around it, each without its blocks."""
    first: int
    last: int


def explain(source: str, lines: Collection[int]) -> tuple[Explained, ...]:
    """Group unreached lines of a source by function and entry, in their order."""
    groups: dict[tuple[str, Unreached | None], list[int]] = {}
    for each in _statements(ast.parse(source), source.splitlines(), "", ""):
        if found := [line for line in range(each.first, each.last + 1) if line in lines]:
            entry = next((entry for entry in UNREACHED if entry.holds(each.function, each.text)), None)
            groups.setdefault((each.function, entry), []).extend(found)
    return tuple(Explained(function, tuple(found), entry) for (function, entry), found in groups.items())


def beyond_programs(explained: Collection[Explained]) -> int:
    """Return how many of the lines no program can run."""
    return sum(len(each.lines) for each in explained if each.entry is not None and each.entry.why in BEYOND)


def _statements(node: ast.AST, lines: list[str], function: str, around: str) -> Iterator[_Statement]:
    """Yield every statement in a function."""
    for child in ast.iter_child_nodes(node):
        inner, text = function, around
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner, text = f"{function}.{child.name}".lstrip("."), ""
        elif function and isinstance(child, ast.stmt | ast.ExceptHandler):
            last = _end_of_header(child)
            own = " ".join(line.strip() for line in lines[child.lineno - 1 : last])
            # What is in the else of a condition does not depend on its text.
            alternative = isinstance(node, ast.If) and child in node.orelse
            text = own if alternative else f"{around} {own}".lstrip()
            yield _Statement(function, text, child.lineno, last)
        yield from _statements(child, lines, inner, text)


def _end_of_header(statement: ast.stmt | ast.ExceptHandler) -> int:
    """Return the last line before the blocks of a statement, or its last line if it has none."""
    blocks = [
        inner.lineno
        for inner in ast.walk(statement)
        if inner is not statement and isinstance(inner, ast.stmt | ast.ExceptHandler)
    ]
    last = min(blocks) - 1 if blocks else statement.end_lineno
    return max(last or 0, statement.lineno)

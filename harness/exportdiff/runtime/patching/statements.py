"""Turns lines of Python into logical lines that can be compared: equal ones have the same AST.

Annotations, comments, docstrings, line breaks inside of brackets and trailing commas do not count. The lines
may be a fragment, such as a hunk: then the first and the last logical line may be incomplete.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Part: TypeAlias = Literal["whole", "end", "start"]
"""How much of a logical line there is."""

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbuRBUfF]{0,2}(?:\"\"\"(?:\\.|(?!\"\"\").)*(?:\"\"\"|\Z)|'''(?:\\.|(?!''').)*(?:'''|\Z)
        |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<newline>\n)|(?P<joined>\\\n)|(?P<space>[ \t\f]+)
    |(?P<word>[\w.]+)|(?P<op>->|:=|[-+*/%@&|^<>=!]{1,3}|.)""",
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = {"elif": "if", "else": "if 1", "finally": "if 1", "except": "if 1 or ", "case": "if 1 or "}
"""A clause such as ``else:`` cannot stand alone: its first word is replaced, and compared separately."""


@dataclass(frozen=True)
class Logical:
    """One logical line."""

    start: int
    stop: int
    """Its lines, counted from 0."""
    column: int
    """Of its first character; meaningless if its beginning is missing."""
    tokens: tuple[str, ...]
    part: Part = "whole"

    def matches(self, other: Logical) -> bool:
        """Whether a whole logical line can be this one, of which there may be only a part."""
        if self.part == "end":
            return other.tokens[-len(self.tokens) :] == self.tokens
        if self.column != other.column:
            return False
        if self.part == "start":
            return other.tokens[: len(self.tokens)] == self.tokens
        return self.tokens == other.tokens or _normal(self.tokens) == _normal(other.tokens)


def readings(lines: Sequence[str]) -> Iterator[tuple[Logical, ...]]:
    """Yield the logical lines of a fragment; twice, if it may start inside of a docstring."""
    text = "\n".join(lines) + "\n"
    yield tuple(_logical(text, 0))
    for quotes in ('"""', "'''"):
        if text.count(quotes) % 2:
            rest = text.index(quotes) + len(quotes)
            yield tuple(_logical(text[rest:], text[:rest].count("\n")))


def logical_lines(lines: Sequence[str]) -> tuple[Logical, ...]:
    """Return the logical lines of a whole file, without docstrings."""
    return tuple(_logical("\n".join(lines) + "\n", 0))


def _logical(text: str, line: int) -> Iterator[Logical]:
    """Yield the logical lines of a text whose first line has this number."""
    pending: list[str] = []
    start, column, at = line, 0, 0
    depth = _closed_too_often(text)
    missing = depth > 0
    for token in _TOKEN.finditer(text):
        kind, value = token.lastgroup, token[0]
        if kind in ("string", "word", "op"):
            if not pending:
                start, column = line, token.start() - at
            pending.append(value)
            if value in "([{":
                depth += 1
            elif value in ")]}":
                depth -= 1
        line += value.count("\n")
        if "\n" in value:
            at = token.end() - len(value.rpartition("\n")[2])
        if kind == "newline" and pending and depth <= 0:
            if not _is_docstring(pending):
                yield Logical(start, line, column, _without_commas(pending), "end" if missing else "whole")
            pending, missing = [], False
    if pending and not _is_docstring(pending):
        yield Logical(start, line, column, _without_commas(pending), "start")


def _closed_too_often(text: str) -> int:
    """Return how many brackets are open where a fragment starts."""
    depth = lowest = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "op":
            depth += (token[0] in "([{") - (token[0] in ")]}")
            lowest = min(lowest, depth)
    return -lowest


def _is_docstring(tokens: Sequence[str]) -> bool:
    return all(token[-1] in "\"'" or token.lstrip("rbuRBUfF")[:3] in ('"""', "'''") for token in tokens)


def _without_commas(tokens: Sequence[str]) -> tuple[str, ...]:
    """Leave out trailing commas, but not that of a tuple of one."""
    kept: list[str] = []
    opened: list[tuple[bool, int]] = []
    for number, token in enumerate(tokens):
        if token in "([{":
            before = tokens[number - 1] if number else ""
            opened.append((before[-1:].isalnum() or before in (")", "]") or before.endswith("_"), 0))
        elif token == "," and opened:
            opened[-1] = (opened[-1][0], opened[-1][1] + 1)
        elif token in ")]}" and opened:
            call, commas = opened.pop()
            if kept and kept[-1] == "," and (call or commas > 1):
                kept.pop()
        kept.append(token)
    return tuple(kept)


def _normal(tokens: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the AST of a logical line without annotations, as text; its tokens if it is not a statement."""
    word, text = tokens[0], " ".join(tokens)
    if word in _CLAUSES:
        text = _CLAUSES[word] + text.removeprefix(word)
    if word == "@":
        text += "\ndef f(): pass"
    elif tokens[-1] == ":":
        text += " pass"
    try:
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return tokens
    return f"{word if word in _CLAUSES else ''} {ast.dump(_Plain().visit(node))}"


class _Plain(ast.NodeTransformer):
    """Takes away annotations."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return node
        return self.generic_visit(ast.Assign([node.target], node.value, lineno=0))

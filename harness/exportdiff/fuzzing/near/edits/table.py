"""What an edit is, and the table of edits.

An edit gets a part of a program, and returns what may replace it. A new edit is one decorated function in the
file of its kind; its name is the name of the edit.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Expressions = Iterable[ast.expr]
Blocks = Iterable[list[ast.stmt]]


@dataclass(frozen=True)
class Edit:
    """One entry of the table. Exactly one of the two functions is there."""

    name: str
    of_expression: Callable[[ast.expr], Expressions] | None = None
    """Returns what may replace an expression."""
    of_block: Callable[[list[ast.stmt]], Blocks] | None = None
    """Returns what may replace the statements of a function, a loop or a branch."""


EDITS: dict[str, Edit] = {}


def edits_expression(function: Callable[[ast.expr], Expressions]) -> Callable[[ast.expr], Expressions]:
    """Add a function to the table, with its name."""
    name = _name(function)
    EDITS[name] = Edit(name, of_expression=function)
    return function


def edits_block(function: Callable[[list[ast.stmt]], Blocks]) -> Callable[[list[ast.stmt]], Blocks]:
    """Add a function to the table, with its name."""
    name = _name(function)
    EDITS[name] = Edit(name, of_block=function)
    return function


def _name(function: Callable[..., object]) -> str:
    return function.__name__.replace("_", "-")


def parsed(text: str, **parts: ast.expr) -> ast.expr:
    """Return the expression of a text, in which the names of ``parts`` stand for these expressions."""
    filled: ast.expr = _Filled(parts).visit(ast.parse(text, mode="eval").body)
    return filled


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._parts.get(node.id, node)

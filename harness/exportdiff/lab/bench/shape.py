"""The size of a program, read from its text."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

_DEPTH = re.compile(r"hierarchy\.depth(\d+)")


@dataclass(frozen=True)
class Shape:
    """How large a program is."""

    statements: int
    """Statements in the methods of its modules, ``__init__`` left out."""
    calls: int
    """Call expressions on ``self`` in these methods: calls of children and of its own methods."""
    classes: int
    depth: int
    """Levels of the hierarchy, as the tags of the program say; 1 where they say nothing."""


def shape_of(source: str, tags: tuple[str, ...] = ()) -> Shape:
    """Count in the text of a program. Raises SyntaxError."""
    statements = calls = classes = 0
    for top in ast.parse(source).body:
        if not isinstance(top, ast.ClassDef):
            continue
        classes += 1
        for method in top.body:
            if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                inside = [node for statement in method.body for node in ast.walk(statement)]
                statements += sum(isinstance(node, ast.stmt) for node in inside)
                calls += sum(map(_is_call_on_self, inside))
    depths = [int(match[1]) for tag in tags if (match := _DEPTH.fullmatch(tag))]
    return Shape(statements, calls, classes, max(depths, default=1))


def _is_call_on_self(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called: ast.expr = node.func
    while isinstance(called, ast.Attribute | ast.Subscript):
        called = called.value
    return isinstance(called, ast.Name) and called.id == "self"

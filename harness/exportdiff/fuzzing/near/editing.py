"""Applies an edit to a program: finds where it fits, and replaces that part."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.core.program_text.parsing import parse
from exportdiff.fuzzing.minimizing.outline import FACTORY

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from exportdiff.fuzzing.near.edits import Edit

BLOCKS = ("body", "orelse")
"""The fields of a node that have statements."""


def edited(source: str, edit: Edit, choose: random.Random) -> str | None:
    """Return the program with the edit in one place; None if it fits nowhere.

    ``choose`` chooses a place, and what it becomes. The result may not run.
    """
    tree = parse(source)
    changes = list(_changes(tree, edit))
    if not changes:
        return None
    place = choose.choice(sorted({place for place, _ in changes}))
    old, new = choose.choice([change for at, change in changes if at == place])
    changed = _Replacing(old, new).visit(tree)
    return ast.unparse(ast.fix_missing_locations(changed))


_Part = ast.expr | list[ast.stmt]


def _changes(tree: ast.Module, edit: Edit) -> Iterator[tuple[int, tuple[_Part, _Part]]]:
    """Yield all changes that the edit can make, each with the number of its place."""
    for number, node in enumerate(_editable(tree)):
        if edit.of_expression is not None and isinstance(node, ast.expr):
            for expression in edit.of_expression(node):
                yield number, (node, expression)
        for field in BLOCKS:
            block = getattr(node, field, None)
            if edit.of_block is not None and isinstance(block, list) and not _only_defines(node):
                for statements in edit.of_block(block):
                    yield number, (block, statements)


def _editable(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes inside of functions. What says which sizes are dynamic stays as it is."""
    for line in tree.body:
        if isinstance(line, ast.ClassDef) or (
            isinstance(line, ast.FunctionDef) and line.name not in OPTIONAL_FUNCTIONS
        ):
            yield from ast.walk(line)


def _only_defines(node: ast.AST) -> bool:
    """Whether a node has no code of its own to edit: a class, and a ``make`` that only returns."""
    if isinstance(node, ast.FunctionDef) and node.name == FACTORY:
        return len(node.body) == 1
    return isinstance(node, ast.ClassDef)


class _Replacing(ast.NodeTransformer):
    """Replaces one expression, or the statements of one block."""

    def __init__(self, old: _Part, new: _Part) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._old:
            assert isinstance(self._new, ast.expr)
            return self._new
        for field in BLOCKS:
            if getattr(node, field, None) is self._old:
                setattr(node, field, self._new)
                return node
        return self.generic_visit(node)

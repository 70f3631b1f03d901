"""Puts what the functions of an entry return in the place of their calls, as people write a test."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.core.program_text.parsing import parse

if TYPE_CHECKING:
    from exportdiff.known.upstream.plain_program import PlainProgram

HELPERS = ("make", "dynamic_shapes")
"""The functions of an entry that a test does without, if they only return a value."""

_Helpers: TypeAlias = "dict[str, ast.expr]"
"""What each function returns."""


def without_helpers(program: PlainProgram) -> PlainProgram:
    """Return the program without its helpers, if they only return a value and no definition calls them."""
    helpers: _Helpers = {}
    kept = []
    for text in program.definitions:
        node = parse(text).body[0]
        match node:
            case ast.FunctionDef(name=name, body=[ast.Return(ast.expr() as value)]) if name in HELPERS:
                helpers[name] = value
            case _:
                kept.append(text)
    if not helpers or any(re.search(rf"\b{name}\(\)", text) for name in helpers for text in kept):
        return program
    lines = program.statements.splitlines()
    for node in reversed(parse(program.statements).body):
        if any(_is_call(each, helpers) for each in ast.walk(node)):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno)
            lines[first:last] = map(_text, _in_place(node, helpers))
    return replace(program, definitions=tuple(kept), statements="\n".join(lines))


def _text(node: ast.stmt) -> str:
    match node:
        case ast.Assign([ast.Tuple() as target], ast.Tuple([_, _, *_]) as value):
            return f"{ast.unparse(target)[1:-1]} = {ast.unparse(value)[1:-1]}"
    return ast.unparse(node)


def _is_call(node: ast.AST, helpers: _Helpers) -> bool:
    match node:
        case ast.Call(ast.Name(name), [], []):
            return name in helpers
    return False


def _in_place(node: ast.stmt, helpers: _Helpers) -> list[ast.stmt]:
    """Return statements that do the same as a statement, and call no helper."""
    match node:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            parts = zip(targets, values, strict=True)
            return [each for t, v in parts for each in _in_place(ast.Assign([t], v, lineno=0), helpers)]
    new = _Inlined(helpers).visit(node)
    match new:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            pairs = [(t, v) for t, v in zip(targets, values, strict=True) if ast.unparse(t) != "_"]
            if len(pairs) < len(targets) or len(pairs) == 1:
                return [ast.Assign([t], v, lineno=0) for t, v in pairs]
    return [new]


class _Inlined(ast.NodeTransformer):
    """Replaces the calls of helpers."""

    def __init__(self, helpers: _Helpers) -> None:
        self.helpers = helpers

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace ``make()[0]`` by the model."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        match node:
            case ast.Subscript(ast.Tuple(values), ast.Constant(int(index))) if index < len(values):
                return values[index]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace ``make()`` by what it returns."""
        if _is_call(node, self.helpers) and isinstance(node.func, ast.Name):
            return self.helpers[node.func.id]
        self.generic_visit(node)
        # "model(*(x,))" becomes "model(x)".
        node.args = [part for each in node.args for part in _unpacked(each)]
        return node


def _unpacked(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Starred(ast.Tuple(values)):
            return values
    return [node]

"""Merges two programs into one, whose model calls the models of both."""

from __future__ import annotations

import ast

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.core.program_text.parsing import parse

BOTH = """
import torch


class Both(torch.nn.Module):
    def __init__(self, one, other):
        super().__init__()
        self.one, self.other = one, other

    def forward(self, first, second):
        return self.one(*first[0], **first[1]), self.other(*second[0], **second[1])


def make():
    one, *first = make_1()
    other, *second = make_2()
    return Both(one, other), ((first[0], dict(*first[1:])), (second[0], dict(*second[1:])))
"""


def merged(one: str, other: str) -> str | None:
    """Return a program with the models of two; None if one of them has dynamic sizes or probes."""
    if has_options(one) or has_options(other):
        return None
    trees = [parse(one), parse(other)]
    imports: list[ast.stmt] = []
    definitions: list[ast.stmt] = []
    for number, tree in enumerate(trees, 1):
        renamed = _Suffix({name: f"{name}_{number}" for name in _defined(tree)}).visit(tree)
        for line in renamed.body:
            (imports if isinstance(line, ast.Import | ast.ImportFrom) else definitions).append(line)
    texts = dict.fromkeys(map(ast.unparse, imports))
    if any("__future__" in text for text in texts):
        return None
    body = [ast.unparse(each) for each in definitions]
    return "\n".join([*texts, *body, BOTH])


def has_options(source: str) -> bool:
    """Whether a program has dynamic sizes or probes: functions that fit its own inputs only."""
    return not _defined(parse(source)).isdisjoint(OPTIONAL_FUNCTIONS)


def _defined(tree: ast.Module) -> set[str]:
    """Return the names of the functions, classes and variables of a module."""
    names = {line.name for line in tree.body if isinstance(line, ast.ClassDef | ast.FunctionDef)}
    targets = [target for line in tree.body if isinstance(line, ast.Assign) for target in line.targets]
    return names | {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


class _Suffix(ast.NodeTransformer):
    """Renames functions, classes and variables, and what refers to them."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._defined(node)

    def _defined(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if node.col_offset == 0:
            node.name = self._names.get(node.name, node.name)
        return self.generic_visit(node)

"""Edits that change what a function of the model returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.table import edits_block, parsed

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Blocks

RESULTS = (
    "(x, x)",
    "[x]",
    "{'y': x}",
    "{2: x, 1: x}",
    "(x, None)",
    "(x, 'text', 3)",
    "x[None]",
    "x.detach()",
    "(x, x.shape)",
    "(x, x.sum())",
    "(x.view(-1), x)",
    "x.clone()",
    "(x, x.data)",
    "x + 0",
    "torch.Size(x.shape)",
)


@edits_block
def another_result(block: list[ast.stmt]) -> Blocks:
    """Return a container, a view, a copy, a size, or the same tensor twice."""
    for number, line in enumerate(block):
        if isinstance(line, ast.Return) and line.value is not None:
            for text in RESULTS:
                yield [*block[:number], ast.Return(parsed(text, x=line.value)), *block[number + 1 :]]


@edits_block
def returns_something_else(block: list[ast.stmt]) -> Blocks:
    """Also return a variable, an argument or a tensor of ``self``."""
    names = {
        ast.unparse(node)
        for line in block
        for node in ast.walk(line)
        if (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self")
    }
    for number, line in enumerate(block):
        if isinstance(line, ast.Return) and line.value is not None:
            for name in sorted(names):
                pair = parsed("(x, y)", x=line.value, y=ast.parse(name, mode="eval").body)
                yield [*block[:number], ast.Return(pair), *block[number + 1 :]]

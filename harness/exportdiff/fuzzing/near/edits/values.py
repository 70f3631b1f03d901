"""Edits that change numbers, flags, dtypes and tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.operators import relatives
from exportdiff.fuzzing.near.edits.table import edits_expression, parsed

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Expressions

DTYPES = (("float32", "float64", "bfloat16", "float16", "int64", "int32", "bool", "complex64"),)
MAKERS = ("ones", "zeros", "rand", "randn", "arange", "tensor", "full", "eye")
TENSORS = (
    "x.double()",
    "x.to(torch.bfloat16)",
    "x.requires_grad_()",
    "x.unsqueeze(-1).expand(*x.shape, 2)[..., 0]",
    "torch.stack([x, x])[1]",
    "x.mT.contiguous().mT",
    "x.unsqueeze(0)",
    "torch.nn.Parameter(x)",
    "x.repeat_interleave(2, 0)",
    "x.to(torch.complex64)",
    "x.int()",
)


@edits_expression
def another_number(node: ast.expr) -> Expressions:
    """Change a number by one, negate it, or make it a float."""
    number = node.value if isinstance(node, ast.Constant) else None
    if isinstance(number, int | float) and not isinstance(number, bool):
        for value in (number + 1, number - 1, -number, number * 2, float(number)):
            yield ast.Constant(value)


@edits_expression
def another_flag(node: ast.expr) -> Expressions:
    """Exchange True, False and None."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
        yield from (ast.Constant(value) for value in (True, False, None) if value is not node.value)


@edits_expression
def another_dtype(node: ast.expr) -> Expressions:
    """Replace a dtype by another one."""
    if isinstance(node, ast.Attribute):
        for name in relatives(node.attr, DTYPES):
            yield ast.Attribute(node.value, name, ast.Load())


@edits_expression
def another_tensor(node: ast.expr) -> Expressions:
    """Give a tensor that is written out another dtype, layout or shape, or a gradient."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS:
        yield from (parsed(text, x=node) for text in TENSORS)


@edits_expression
def negated(node: ast.expr) -> Expressions:
    """Negate a condition."""
    if isinstance(node, ast.Compare):
        yield ast.UnaryOp(ast.Not(), node)

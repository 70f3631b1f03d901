"""Edits that replace an operator by another one of its family."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.table import edits_expression, parsed

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Expressions

FAMILIES = (
    ("sin", "cos", "tanh", "sigmoid", "relu", "neg", "abs", "exp", "square", "floor", "sign", "erf"),
    ("relu", "gelu", "silu", "elu", "softplus", "leaky_relu", "hardswish", "mish", "tanh", "logsigmoid"),
    ("sum", "mean", "prod", "amax", "amin", "std", "norm", "logsumexp", "argmax"),
    ("cumsum", "cumprod", "softmax", "log_softmax", "flip", "sort"),
    ("add", "sub", "mul", "div", "maximum", "minimum", "atan2", "true_divide", "floor_divide"),
    ("add_", "sub_", "mul_", "div_", "copy_", "fill_"),
    ("sin_", "cos_", "neg_", "relu_", "zero_", "exp_", "sigmoid_", "tanh_", "abs_", "clamp_min_"),
    ("zeros_like", "ones_like", "rand_like", "empty_like"),
    ("zeros", "ones", "rand"),
    ("new_zeros", "new_ones"),
    ("clone", "contiguous", "detach", "view_as_real", "resolve_conj", "requires_grad_"),
    ("t", "flatten", "squeeze", "ravel", "clone", "positive", "conj", "mT"),
    ("view", "reshape", "expand", "new_zeros"),
    ("transpose", "movedim", "flip", "swapaxes"),
    ("unsqueeze", "squeeze", "select", "unbind", "sum"),
    ("chunk", "split", "tensor_split", "unsafe_chunk"),
    ("cat", "stack", "hstack", "vstack"),
    ("squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_"),
    ("dropout", "alpha_dropout", "feature_alpha_dropout"),
    ("bernoulli", "rand_like", "randn_like", "zeros_like"),
    ("index_add", "index_copy", "scatter", "scatter_add"),
    ("index_add_", "index_copy_", "scatter_", "scatter_add_", "index_fill_"),
    ("gather", "index_select", "take_along_dim"),
    ("where", "masked_fill"),
    ("no_grad", "enable_grad", "inference_mode"),
    ("float", "double", "half", "bfloat16", "int", "long", "bool"),
)
"""Names of functions and methods. One name of a family may replace another; where the arguments do not fit,
eager raises, and the program is not used."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
COMPARISONS = (ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.Eq, ast.NotEq)


@edits_expression
def another_operator(node: ast.expr) -> Expressions:
    """Replace a function or a method by one of its family."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    for name in relatives(node.func.attr, FAMILIES):
        func = ast.Attribute(node.func.value, name, ast.Load())
        yield ast.Call(func, node.args, node.keywords)


@edits_expression
def in_place_or_not(node: ast.expr) -> Expressions:
    """Use the in-place form of an operator, or the other way round."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        other = name.removesuffix("_") if name.endswith("_") else f"{name}_"
        yield ast.Call(ast.Attribute(node.func.value, other, ast.Load()), node.args, node.keywords)


@edits_expression
def another_sign(node: ast.expr) -> Expressions:
    """Replace ``+`` or ``>`` by another operator of Python."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        for op in ARITHMETIC:
            if not isinstance(node.op, op):
                yield ast.BinOp(node.left, op(), node.right)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], COMPARISONS):
        for comparison in COMPARISONS:
            if not isinstance(node.ops[0], comparison):
                yield ast.Compare(node.left, [comparison(), *node.ops[1:]], node.comparators)


@edits_expression
def operands_exchanged(node: ast.expr) -> Expressions:
    """Exchange the operands of an operator, or the first two arguments of a call."""
    if isinstance(node, ast.BinOp):
        yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)


LAYOUTS = (
    "x.clone()",
    "x.mT.contiguous().mT",
    "x.view_as(x)",
    "x.flatten()",
    "x.unsqueeze(0)[0]",
    "x[:]",
    "x.expand_as(x)",
)
TYPES = (
    "x.double()",
    "x.to(torch.bfloat16)",
    "x.to(torch.complex64)",
    "x.int()",
    "x.to(x.dtype)",
    "x.bool()",
)


@edits_expression
def another_layout(node: ast.expr) -> Expressions:
    """Give the result of a call another memory layout, or make it a view or a copy."""
    return (parsed(text, x=node) for text in LAYOUTS * isinstance(node, ast.Call))


@edits_expression
def another_dtype_of_result(node: ast.expr) -> Expressions:
    """Give the result of a call another dtype."""
    return (parsed(text, x=node) for text in TYPES * isinstance(node, ast.Call))


def relatives(name: str, families: tuple[tuple[str, ...], ...]) -> list[str]:
    """Return the other names of the families that a name is in."""
    return [other for family in families if name in family for other in family if other != name]

"""Edits that replace, wrap or repeat a layer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exportdiff.fuzzing.near.edits.operators import relatives
from exportdiff.fuzzing.near.edits.table import edits_block, edits_expression, parsed

if TYPE_CHECKING:
    from exportdiff.fuzzing.near.edits.table import Blocks, Expressions

FAMILIES = (
    ("ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "ELU", "Hardtanh", "LeakyReLU", "ReLU6", "Mish", "Identity"),
    ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Identity"),
    ("BatchNorm1d", "InstanceNorm1d", "LayerNorm", "Identity", "SyncBatchNorm", "RMSNorm"),
    ("BatchNorm2d", "InstanceNorm2d", "Identity", "SyncBatchNorm"),
    ("LSTM", "GRU", "RNN"),
    ("LSTMCell", "GRUCell", "RNNCell"),
    ("Linear", "Embedding"),
    ("Conv1d", "ConvTranspose1d"),
    ("Conv2d", "ConvTranspose2d"),
    ("MaxPool1d", "AvgPool1d"),
    ("MaxPool2d", "AvgPool2d", "LPPool2d"),
    ("Sequential", "ModuleList"),
)

WRAPPED = (
    "torch.nn.Sequential(x)",
    "torch.nn.Sequential(x, torch.nn.Identity())",
    "torch.nn.utils.parametrizations.weight_norm(x)",
    "torch.nn.utils.parametrizations.spectral_norm(x)",
    "torch.nn.utils.parametrizations.orthogonal(x)",
    "x.double()",
    "x.eval()",
    "x.requires_grad_(False)",
    "torch.nn.ModuleList([x, x])[1]",
)


@edits_expression
def another_layer(node: ast.expr) -> Expressions:
    """Replace a layer by one of its family."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for name in relatives(node.func.attr, FAMILIES):
            yield ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)


@edits_expression
def layer_wrapped(node: ast.expr) -> Expressions:
    """Put a layer into a container, parametrize it, freeze it or change its mode."""
    if makes_layer(node):
        yield from (parsed(text, x=node) for text in WRAPPED)


@edits_block
def layer_with_two_names(block: list[ast.stmt]) -> Blocks:
    """Give a layer or a tensor of ``self`` a second name."""
    for number, line in enumerate(block):
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]).startswith("self."):
            second = ast.parse(f"self.again = {ast.unparse(line.targets[0])}").body
            yield [*block[: number + 1], *second, *block[number + 1 :]]


@edits_block
def layer_called_twice(block: list[ast.stmt]) -> Blocks:
    """Call a layer once more, with the same arguments, before the statement that calls it."""
    for number, line in enumerate(block):
        for call in ast.walk(line):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("self."):
                yield [*block[:number], ast.Expr(call), *block[number:]]


def makes_layer(node: ast.expr) -> bool:
    """Whether an expression calls something with the name of a class, as ``nn.Linear(2, 2)`` does."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    return name[:1].isupper() and name not in ("Parameter", "Buffer", "Tensor", "Size", "Generator")

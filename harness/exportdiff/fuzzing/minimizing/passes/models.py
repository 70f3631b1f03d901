"""Simplify what only models have: tensor factories, layers, parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import is_of_torch
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, Replacement, SourceTree, text

MAKERS = ("ones", "zeros")
"""Functions that make a tensor of a given shape, the simplest first."""


@reduction(level=1, together="all")
def shaped(tree: SourceTree) -> Iterator[Edit]:
    """Make a tensor in its final shape: ``torch.arange(6).view(2, 3)`` becomes ``torch.ones(2, 3)``."""
    for call in tree.of(cst.Call):
        inner = call.func.value if isinstance(call.func, cst.Attribute) else None
        if isinstance(inner, cst.Call) and is_of_torch(inner.func) and call.args:
            yield {call: cst.Call(_torch("ones"), call.args)}


@reduction(level=1, together="all")
def plain_values(tree: SourceTree) -> Iterator[Edit]:
    """Fill a tensor with ones or zeros, whatever its values were."""
    for call in tree.of(cst.Call):
        if text(call.func) == "torch.tensor":
            yield {call: cst.parse_expression("torch.ones(())")}
        elif is_of_torch(call.func) and call.args:
            for name in MAKERS:
                yield {call: cst.Call(_torch(name), call.args)}
                yield {call: cst.Call(_torch(name), call.args[:1])}
                yield {call: cst.Call(_torch(name), [arg for arg in call.args if arg.keyword is None][-1:])}


@reduction(level=2, together="never")
def counted_values(tree: SourceTree) -> Iterator[Edit]:
    """Fill a vector with 0.0, 1.0, …. Helps if the values have to differ."""
    for call in tree.of(cst.Call):
        if is_of_torch(call.func):
            for number in ("1.0", "2.0", "3.0"):
                yield {call: cst.Call(_torch("arange"), [cst.Arg(cst.Float(number))])}


@reduction(level=1, together="never")
def layers(tree: SourceTree) -> Iterator[Edit]:
    """Replace a layer by a parameter, ``self.a(x)`` by ``self.a * x``; or by a layer without parameters."""
    for node in tree.of(cst.Assign):
        target, value = node.targets[0].target, node.value
        if not isinstance(target, cst.Attribute) or not isinstance(value, cst.Call):
            continue
        if isinstance(value.func, cst.Attribute) and value.func.attr.value not in ("Identity", "Parameter"):
            yield {value: cst.parse_expression("nn.Identity()")}
            edit: dict[cst.CSTNode, Replacement] = {
                value: cst.parse_expression("nn.Parameter(torch.ones(1))"),
            }
            for call in tree.of(cst.Call):
                if (
                    isinstance(call.func, cst.Attribute)
                    and call.func.attr.value == target.attr.value
                    and call.args
                ):
                    edit[call] = cst.BinaryOperation(call.func, cst.Multiply(), call.args[0].value)
            yield edit
            yield {value: cst.parse_expression("nn.Linear(1, 1)")}
            yield {value: cst.parse_expression("nn.ReLU()")}


@reduction(level=1, together="all")
def buffers(tree: SourceTree) -> Iterator[Edit]:
    """Replace a buffer by a plain attribute."""
    for call in tree.of(cst.Call):
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value.startswith("register_") and len(call.args) > 1:
            name = call.args[0].value
            if isinstance(name, cst.SimpleString) and name.value[1:-1].isidentifier():
                target = cst.AssignTarget(cst.Attribute(func.value, cst.Name(name.value[1:-1])))
                yield {tree.parents[call]: cst.Assign([target], call.args[1].value)}


def _torch(name: str) -> cst.BaseExpression:
    return cst.Attribute(cst.Name("torch"), cst.Name(name))

"""Simplify expressions: use a part of one, a variable, or a constant."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import is_made_tensor
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree, below, children, text

AT_HAND = ("None", "1", "True", "torch.ones(1)", "torch.ones(2)", "torch.ones(())")
"""Constants that may replace any expression."""


@reduction(level=1, together="all")
def parts(tree: SourceTree) -> Iterator[Edit]:
    """Replace an operation by an operand, a call by an argument or by the object of the method.

    Outer expressions first: they remove the most. A branch of a conditional expression is a part, too.
    """
    for node in _values(tree):
        for part in _parts(node):
            yield {node: part}


@reduction(level=1, together="never")
def deeper_parts(tree: SourceTree) -> Iterator[Edit]:
    """Replace an expression by a variable or attribute deep inside it."""
    for node in _values(tree):
        direct = set(_parts(node))
        seen: set[str] = set()
        for part in below(node):
            if isinstance(part, cst.Name | cst.Attribute) and part not in direct and part is not node:
                written = text(part)
                if written not in seen and not _is_word(tree, part) and not _is_called(tree, part):
                    seen.add(written)
                    yield {node: part}


@reduction(level=1, together="never")
def sums(tree: SourceTree) -> Iterator[Edit]:
    """Replace a call with ``x`` by ``x + 1``. Helps if only a new tensor is needed."""
    for call in tree.of(cst.Call):
        for arg in call.args[:1]:
            if isinstance(arg.value, cst.Name | cst.Attribute):
                yield {call: cst.BinaryOperation(arg.value, cst.Add(), cst.Integer("1"))}


@reduction(level=2, together="never")
def variables_at_hand(tree: SourceTree) -> Iterator[Edit]:
    """Replace an expression by a parameter."""
    for node in _values(tree):
        function = tree.above(node, cst.FunctionDef)
        if function is None or (isinstance(node, cst.Name) and node.value == "self"):
            continue
        for param in function.params.params:
            if param.name.value != "self" and text(node) != param.name.value:
                yield {node: cst.Name(param.name.value)}


@reduction(level=2, together="never")
def constants(tree: SourceTree) -> Iterator[Edit]:
    """Replace an expression that is not a constant by a constant."""
    for node in _values(tree):
        if isinstance(node, cst.BaseNumber | cst.BaseString) or text(node) in ("None", "True", "False"):
            continue
        for written in AT_HAND:
            # A tensor stays a tensor: readers of the file expect that.
            if not is_made_tensor(node) or written.startswith("torch."):
                yield {node: cst.parse_expression(written)}


@reduction(level=1, together="all")
def operands(tree: SourceTree) -> Iterator[Edit]:
    """Leave out one of several comparisons, and the step or a bound of a slice."""
    for node in tree.of(cst.Slice):
        if node.step is not None:
            yield {node: node.with_changes(step=None, second_colon=cst.MaybeSentinel.DEFAULT)}
        if node.lower is not None:
            yield {node: node.with_changes(lower=None)}
        if node.upper is not None:
            yield {node: node.with_changes(upper=None)}


def _values(tree: SourceTree) -> Iterator[cst.BaseExpression]:
    """Return the expressions that are read as values, outer ones first."""
    apart = (cst.Annotation, cst.Import, cst.ImportFrom)
    for node in tree.expressions():
        parent = tree.parents[node]
        if isinstance(node, cst.StarredElement) or (
            isinstance(parent, cst.AnnAssign) and parent.target is node
        ):
            continue
        named = isinstance(node, cst.Name) and (_is_word(tree, node) or not _is_read(parent, node))
        if named or isinstance(parent, cst.AssignTarget | cst.Decorator) or _is_called(tree, node):
            continue
        if tree.above(node, *apart) is None:
            yield node


def _is_called(tree: SourceTree, node: cst.CSTNode) -> bool:
    parent = tree.parents[node]
    return isinstance(parent, cst.Call) and parent.func is node


def _is_word(tree: SourceTree, node: cst.CSTNode) -> bool:
    parent = tree.parents[node]
    return (isinstance(parent, cst.Attribute) and parent.attr is node) or (
        isinstance(parent, cst.Arg) and parent.keyword is node
    )


def _is_read(parent: cst.CSTNode, node: cst.CSTNode) -> bool:
    if isinstance(parent, cst.Param):
        return parent.default is node
    return not isinstance(
        parent, cst.ImportAlias | cst.FunctionDef | cst.ClassDef | cst.AsName | cst.Attribute
    )


def _parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    match node:
        case cst.Call() if is_made_tensor(node):
            return
        case cst.Call():
            if isinstance(node.func, cst.Attribute):
                yield node.func.value
            for arg in node.args:
                yield arg.value
                if isinstance(arg.value, cst.Tuple | cst.List):
                    yield from (each.value for each in arg.value.elements)
        case cst.Tuple() | cst.List() | cst.Set() | cst.Dict():
            yield from (each.value for each in node.elements)
        case cst.Comparison():
            yield node.left
            yield from (each.comparator for each in node.comparisons)
        case cst.Subscript() | cst.Attribute():
            yield node.value
            if isinstance(node.value, cst.Call | cst.Tuple | cst.List | cst.Dict):
                yield from _parts(node.value)
        case cst.Lambda():
            yield node.body
        case _:
            yield from (each for each in children(node) if isinstance(each, cst.BaseExpression))

"""Simplify tuples, lists and dicts: fewer elements, and no container around a single one."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, Replacement, SourceTree


@reduction(level=0)
def elements(tree: SourceTree) -> Iterator[Edit]:
    """Leave out an element of a tuple, list, set or dict: an output, a probe, a dynamic size."""
    for element in reversed(list(tree.of(cst.Element, cst.DictElement))):
        yield {element: None}
    for index in tree.of(cst.SubscriptElement):
        parent = tree.parents[index]
        if isinstance(parent, cst.Subscript) and len(parent.slice) > 1:
            yield {index: None}


@reduction(level=1, together="never")
def parallel_assignments(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a target and its value: ``a, b = x, y`` becomes ``a = x``."""
    for node in tree.of(cst.Assign):
        target, value = node.targets[0].target, node.value
        if isinstance(target, cst.Tuple):
            pairs = len(target.elements)
            given = value.elements if isinstance(value, cst.Tuple) and len(value.elements) == pairs else None
            for number, one in enumerate(target.elements):
                new = given[number].value if given else value
                yield {node: node.with_changes(targets=[cst.AssignTarget(_target(one))], value=new)}
                rest = [each for each in target.elements if each is not one]
                if given and len(rest) > 1:
                    left = [each for each in given if each is not given[number]]
                    yield {target: cst.Tuple(rest, [], []), value: cst.Tuple(left, [], [])}


@reduction(level=1, together="all")
def single_arguments(tree: SourceTree) -> Iterator[Edit]:
    """Write ``ones((2, 3))`` as ``ones(2, 3)``, and replace a container by its only element."""
    for call in tree.of(cst.Call):
        for arg in call.args:
            if isinstance(arg.value, cst.Tuple | cst.List) and not arg.star:
                yield {arg: [cst.Arg(each.value) for each in arg.value.elements]}


@reduction(level=1, together="never")
def containers(tree: SourceTree) -> Iterator[Edit]:
    """Assign a child to an attribute instead of a container with one element."""
    for node in tree.of(cst.Assign):
        target, value = node.targets[0].target, node.value
        if not isinstance(target, cst.Attribute) or not isinstance(value, cst.Call) or len(value.args) != 1:
            continue
        container = value.args[0].value
        if isinstance(container, cst.List | cst.Tuple | cst.Dict) and container.elements:
            edit: dict[cst.CSTNode, Replacement] = {value: container.elements[0].value}
            for each in tree.of(cst.Subscript):
                if isinstance(each.value, cst.Attribute) and each.value.attr.value == target.attr.value:
                    edit[each] = each.value
            yield edit


@reduction(level=2, together="all")
def parentheses(tree: SourceTree) -> Iterator[Edit]:
    """Leave out parentheses."""
    for node in tree.expressions():
        if node.lpar and not (isinstance(node, cst.Tuple) and not node.elements):
            yield {node: node.with_changes(lpar=[], rpar=[])}


def _target(element: cst.BaseElement) -> cst.BaseAssignTargetExpression:
    value = element.value
    assert isinstance(value, cst.BaseAssignTargetExpression)  # the element was a target before
    return value

"""Use smaller numbers and shorter strings."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import is_of_torch
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree, text


@reduction(level=1, together="all")
def equal_numbers(tree: SourceTree) -> Iterator[Edit]:
    """Replace a number by 1 or 2 everywhere at once, because sizes have to agree with each other."""
    numbers = list(tree.of(cst.Integer))
    for value in sorted({node.value for node in numbers}, reverse=True):
        for new in ("1", "2"):
            if int(new) < _value(value):
                yield {node: cst.Integer(new) for node in numbers if node.value == value}


@reduction(level=2, together="all")
def ones(tree: SourceTree) -> Iterator[Edit]:
    """Replace a larger integer by 1."""
    for node in tree.of(cst.Integer):
        if _value(node.value) > 1:
            yield {node: cst.Integer("1")}


@reduction(level=2, together="all")
def zeros(tree: SourceTree) -> Iterator[Edit]:
    """Replace an integer by 0, except a size: an empty tensor is a special case."""
    for node in tree.of(cst.Integer):
        call = tree.above(node, cst.Call)
        if call is None or not is_of_torch(call.func) or text(call.func) == "torch.tensor":
            yield {node: cst.Integer("0")}


@reduction(level=2, together="all")
def twos(tree: SourceTree) -> Iterator[Edit]:
    """Replace a larger integer by 2, then by 3."""
    for node in tree.of(cst.Integer):
        for new in (2, 3):
            if _value(node.value) > new:
                yield {node: cst.Integer(str(new))}


@reduction(level=2, together="all")
def floats(tree: SourceTree) -> Iterator[Edit]:
    """Replace a float by a simpler number, small whole numbers first."""
    for node in tree.of(cst.Float):
        for new in ("1", "2", "0", "1.0", "0.5"):
            yield {node: cst.Integer(new) if new.isdigit() else cst.Float(new)}


@reduction(level=2, together="all")
def strings(tree: SourceTree) -> Iterator[Edit]:
    """Replace a string by one letter, everywhere at once."""
    words = list(tree.of(cst.SimpleString))
    for value in sorted({node.value for node in words}, reverse=True):
        for new in ('"a"', '"b"'):
            yield {node: cst.SimpleString(new) for node in words if node.value == value}


def _value(written: str) -> int:
    return int(written.replace("_", ""), 0)

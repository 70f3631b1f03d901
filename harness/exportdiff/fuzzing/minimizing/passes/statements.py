"""Leave out statements, and definitions that nothing uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree, below, is_name, small, suite


@reduction(level=0)
def definitions(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a class or a function. Runs first: a finding needs only a small part of a program."""
    for node in reversed(list(tree.of(cst.ClassDef, cst.FunctionDef))):
        if node.name.value != FACTORY:
            yield {node: None}


@reduction(level=0)
def statements(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a statement and everything inside it. Starts at the end, because uses follow definitions."""
    for node in reversed(list(tree.statements())):
        if not (isinstance(node, cst.FunctionDef) and node.name.value == FACTORY) and not _is_pass(node):
            yield {node: None}


@reduction(level=0, together="all")
def unused(tree: SourceTree) -> Iterator[Edit]:
    """Leave out an import or a definition that nothing uses. Other passes leave such code."""
    counts = Counter(node.value for node in tree.of(cst.Name))
    strings = {node.value[1:-1] for node in tree.of(cst.SimpleString)}
    for node in tree.of(cst.ClassDef, cst.FunctionDef):
        own = sum(is_name(each, node.name.value) for each in below(node))
        hook = node.name.value in (FACTORY, "forward", "probes", "dynamic_shapes")
        special = node.name.value.startswith("__") or node.name.value in strings
        if counts[node.name.value] == own and not hook and not special:
            yield {node: None}
    for line in tree.of(cst.SimpleStatementLine):
        first = small(line)
        if isinstance(first, cst.Import | cst.ImportFrom) and not isinstance(first.names, cst.ImportStar):
            names = [(alias.asname.name if alias.asname else alias.name) for alias in first.names]
            roots = [next(each for each in below(name) if isinstance(each, cst.Name)) for name in names]
            if all(counts[root.value] == 1 for root in roots):
                yield {line: None}


@reduction(level=0, together="all")
def imported_names(tree: SourceTree) -> Iterator[Edit]:
    """Leave out one of several names that a line imports."""
    for alias in tree.of(cst.ImportAlias):
        if len(list(tree.siblings(alias))) > 1:
            yield {alias: None}


@reduction(level=0, together="all")
def after_the_end(tree: SourceTree) -> Iterator[Edit]:
    """Leave out the statements after a ``return`` or ``raise``. Other passes leave such code."""
    for block in tree.of(cst.IndentedBlock):
        ended = False
        dead: dict[cst.CSTNode, None] = {}
        for node in block.body:
            if ended:
                dead[node] = None
            ended = ended or isinstance(small(node), cst.Return | cst.Raise)
        if dead:
            yield dead


@reduction(level=0, together="all")
def only_pass(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a ``pass`` next to other statements, and a branch that contains only ``pass``."""
    for node in tree.of(cst.SimpleStatementLine):
        parent = tree.parents[node]
        if _is_pass(node) and isinstance(parent, cst.IndentedBlock) and len(parent.body) > 1:
            yield {node: None}
    for branch in tree.of(cst.Else, cst.Finally):
        if all(map(_is_pass, suite(branch.body))):
            yield {branch: None}


@reduction(level=1)
def results(tree: SourceTree) -> Iterator[Edit]:
    """Drop the target of an assignment, or the ``return``: ``y = f(x)`` becomes ``f(x)``."""
    for node in (*tree.of(cst.Assign, cst.AugAssign), *tree.of(cst.Return, cst.AnnAssign)):
        if node.value is not None:
            yield {node: cst.Expr(node.value)}


@reduction(level=1, together="never")
def returned_early(tree: SourceTree) -> Iterator[Edit]:
    """Return an assigned value, and leave out the rest: ``y = f(x); …`` becomes ``return f(x)``."""
    for block in tree.of(cst.IndentedBlock):
        if not isinstance(tree.parents[block], cst.FunctionDef):
            continue
        for number, node in enumerate(block.body):
            first = small(node)
            if isinstance(first, cst.Assign | cst.Expr) and number + 1 < len(block.body):
                rest: dict[cst.CSTNode, None] = dict.fromkeys(block.body[number + 1 :])
                yield {first: cst.Return(first.value), **rest}


def _is_pass(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and isinstance(small(node), cst.Pass)

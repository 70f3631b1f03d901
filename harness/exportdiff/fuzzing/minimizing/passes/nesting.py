"""Remove a level of nesting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import assigned
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import (
    Edit,
    SourceTree,
    below,
    children,
    is_name,
    names_in,
    substituted,
)


@reduction(level=0)
def blocks(tree: SourceTree) -> Iterator[Edit]:
    """Replace a ``with``, ``if``, ``while`` or ``try`` by its body, and a loop by one round of its body."""
    for node in tree.statements():
        if isinstance(node, cst.With | cst.If | cst.While | cst.Try):
            yield {node: _lines(node.body)}
    for loop in tree.of(cst.For):
        for value in _first_values(loop):
            yield {loop: [_line(cst.Assign([cst.AssignTarget(loop.target)], value)), *_lines(loop.body)]}
        yield {loop: _lines(loop.body)}


@reduction(level=0, together="all")
def other_branches(tree: SourceTree) -> Iterator[Edit]:
    """Replace a statement by its ``else``, ``except``, ``finally`` or ``case`` branch."""
    for node in tree.of(cst.If):
        if isinstance(node.orelse, cst.Else):
            yield {node: _lines(node.orelse.body)}
        elif isinstance(node.orelse, cst.If):
            yield {node: node.orelse}
    for loop in tree.of(cst.For, cst.While):
        if loop.orelse is not None:
            yield {loop: _lines(loop.orelse.body)}
    for attempt in tree.of(cst.Try):
        for part in (*attempt.handlers, attempt.orelse, attempt.finalbody):
            if part is not None:
                yield {attempt: _lines(part.body)}
    for match in tree.of(cst.Match):
        for case in match.cases:
            yield {match: _lines(case.body)}


@reduction(level=0, together="all")
def branches(tree: SourceTree) -> Iterator[Edit]:
    """Leave out an ``else``, an ``except`` or a ``case``, and keep the rest of the statement."""
    for branch in (*tree.of(cst.Else, cst.Finally), *tree.of(cst.ExceptHandler, cst.MatchCase)):
        yield {branch: None}
    for node in tree.of(cst.If):
        if isinstance(node.orelse, cst.If):
            yield {node.orelse: None}


@reduction(level=0, together="all")
def decorators(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a decorator, or one of several items of a ``with``."""
    for node in tree.of(cst.Decorator):
        yield {node: None}
    for item in tree.of(cst.WithItem):
        parent = tree.parents[item]
        if isinstance(parent, cst.With) and len(parent.items) > 1:
            yield {item: None}


@reduction(level=1, together="never")
def unrolled(tree: SourceTree) -> Iterator[Edit]:
    """Replace a loop by two rounds of its body. Helps if one round does not show the finding."""
    for loop in tree.of(cst.For):
        if not names_in(loop.target) & names_in(loop.body):
            yield {loop: [*_lines(loop.body), *_lines(loop.body)]}
        elif isinstance(loop.target, cst.Name) and len(values := list(_values(loop.iter))) > 1:
            yield {
                loop: [
                    substituted(
                        line, {each: value for each in below(line) if is_name(each, loop.target.value)}
                    )
                    for value in values[:2]
                    for line in _lines(loop.body)
                ]
            }


@reduction(level=1, together="never")
def local_functions(tree: SourceTree) -> Iterator[Edit]:
    """Turn a local function that only returns a value into a ``lambda``, if it is used once."""
    for function in tree.of(cst.FunctionDef):
        body = _lines(function.body)
        block = tree.parents[function]
        around = tree.parents.get(block)
        first = body[0].body[0] if len(body) == 1 and isinstance(body[0], cst.SimpleStatementLine) else None
        if (
            not isinstance(around, cst.FunctionDef)
            or not isinstance(first, cst.Return)
            or first.value is None
        ):
            continue
        uses = [each for each in below(around) if is_name(each, function.name.value)]
        uses = [each for each in uses if each is not function.name]
        if len(uses) == 1 and not list(assigned(around, function.name.value)):
            params = function.params.with_changes(
                params=[param.with_changes(annotation=None) for param in function.params.params]
            )
            yield {function: None, uses[0]: cst.Lambda(params, first.value)}


def _lines(body: cst.BaseSuite) -> Sequence[cst.BaseStatement]:
    if isinstance(body, cst.IndentedBlock):
        return body.body
    return [
        cst.SimpleStatementLine([each]) for each in children(body) if isinstance(each, cst.BaseSmallStatement)
    ]


def _line(statement: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([statement])


def _values(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Return the elements of a list or tuple, or the first numbers of a range."""
    if isinstance(node, cst.Tuple | cst.List):
        yield from (each.value for each in node.elements)
    elif isinstance(node, cst.Call) and is_name(node.func, "range"):
        yield from (cst.Integer("0"), cst.Integer("1"))


def _first_values(loop: cst.For) -> Iterator[cst.BaseExpression]:
    values = list(_values(loop.iter))
    if values:
        yield values[0]
    else:
        yield cst.Subscript(loop.iter, [cst.SubscriptElement(cst.Index(cst.Integer("0")))])

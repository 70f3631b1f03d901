"""Inline the value of a variable, and the body of a function that is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import Outline, self_name
from exportdiff.fuzzing.minimizing.passes.classes import given_arguments
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import (
    Edit,
    Replacement,
    SourceTree,
    below,
    fitted,
    inside,
    names_in,
    small,
    substituted,
    suite,
)


@reduction(level=1, together="all")
def variables(tree: SourceTree) -> Iterator[Edit]:
    """Inline the value of a variable where it is read, up to the next assignment; saves one line each."""
    for block in tree.of(cst.IndentedBlock, cst.Module):
        for number, line in enumerate(suite(block)):
            first = small(line)
            if isinstance(first, cst.Assign) and len(first.targets) == 1:
                target = first.targets[0].target
                if isinstance(target, cst.Name):
                    uses = list(_reads(suite(block)[number + 1 :], target.value))
                    if uses and not (isinstance(block, cst.Module) and len(uses) > 1):
                        yield {line: None, **dict.fromkeys(uses, first.value)}


def _reads(lines: Sequence[cst.CSTNode], name: str) -> Iterator[cst.Name]:
    """Return where a name is read, up to and including the statement that assigns it again."""
    for line in lines:
        bound = False
        words = {id(node.attr) for node in below(line) if isinstance(node, cst.Attribute)}
        words |= {id(node.keyword) for node in below(line) if isinstance(node, cst.Arg)}
        targets = {
            id(each)
            for node in below(line)
            if isinstance(node, cst.AssignTarget)
            for each in inside(node, cst.Name)
        }
        for node in inside(line, cst.Name):
            if node.value == name and id(node) not in words:
                if id(node) in targets:
                    bound = True
                else:
                    yield node
        if bound:
            return


@reduction(level=1, together="never")
def calls_written_out(tree: SourceTree) -> Iterator[Edit]:
    """Inline the body of a function or method where it is called, and leave out the function."""
    outline = Outline(tree)
    for function in reversed(list(tree.of(cst.FunctionDef))):
        calls = outline.calls_of(function)
        if calls and function.name.value not in ("__init__", "make"):
            edit = _written_out(outline, function, calls)
            if edit is not None:
                yield edit
                owner = outline.owner(function)
                cls = outline.classes[owner] if owner is not None else None
                if cls is not None and isinstance(cls.body, cst.IndentedBlock) and len(cls.body.body) == 1:
                    yield {**edit, cls: None}


def _written_out(outline: Outline, function: cst.FunctionDef, calls: Sequence[cst.Call]) -> Edit | None:
    if not isinstance(function.body, cst.IndentedBlock):
        return None
    *before, last = function.body.body
    if any(isinstance(each, cst.Return) for line in before for each in below(line)):
        return None
    ending = small(last)
    result: cst.BaseExpression | None = cst.Name("None")
    if isinstance(ending, cst.Return):
        result = ending.value or result
    elif not isinstance(ending, cst.Pass):
        before.append(last)
    edit: dict[cst.CSTNode, Replacement] = {function: None}
    assert result is not None
    # Inner calls first: they are arguments of the outer calls.
    for call in reversed(calls):
        line = outline.tree.above(call, cst.SimpleStatementLine)
        if line is None or (before and (line in edit or outline.tree.above(call, cst.Lambda) is not None)):
            return None
        new, first = _bindings(outline, function, call, edit)
        value = substituted(result, _only(new, result))
        if not before:
            edit[call] = value
            continue
        lines = [*first, *(substituted(each, _only(new, each)) for each in before)]
        whole = line.body[0]
        if isinstance(whole, cst.Expr) and whole.value is call:
            edit[line] = lines
        else:
            parent = outline.tree.parents[call]
            edit[line] = [*lines, substituted(line, {call: fitted(value, parent, call)})]
    return edit


def _only(new: dict[cst.CSTNode, cst.CSTNode], node: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    nodes = set(below(node))
    return {each: value for each, value in new.items() if each in nodes}


def _bindings(
    outline: Outline, function: cst.FunctionDef, call: cst.Call, edit: Edit
) -> tuple[dict[cst.CSTNode, cst.CSTNode], list[cst.BaseStatement]]:
    """Return the replacement of each name in the body, and the statements that assign parameters first."""
    bound = outline.owner(function) is not None
    given: dict[str, cst.BaseExpression] = {
        name: outline.tree.rebuilt(value, edit) if value not in edit else value
        for name, value in given_arguments(function, call, bound=bound).items()
    }
    for name, value in given.items():
        replaced = edit.get(value)
        if isinstance(replaced, cst.BaseExpression):
            given[name] = replaced
    if bound:
        receiver = call.func
        if isinstance(receiver, cst.Attribute) and receiver.attr.value == function.name.value:
            receiver = receiver.value
        given[self_name(function)] = receiver
    stored = {
        name
        for node in below(function.body)
        if isinstance(node, cst.AssignTarget | cst.AugAssign)
        for name in names_in(node.target)
    } - {self_name(function) if bound else ""}
    first: list[cst.BaseStatement] = []
    for name in sorted(stored & set(given)):
        value = given.pop(name)
        if not (isinstance(value, cst.Name) and value.value == name):
            first.append(cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], value)]))
    words = {node.attr for node in below(function.body) if isinstance(node, cst.Attribute)}
    words |= {node.keyword for node in below(function.body) if isinstance(node, cst.Arg) and node.keyword}
    new: dict[cst.CSTNode, cst.CSTNode] = {
        node: given[node.value]
        for node in below(function.body)
        if isinstance(node, cst.Name) and node.value in given and node not in words
    }
    return new, first

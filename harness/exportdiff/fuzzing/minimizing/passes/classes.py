"""Use fewer classes: another root, one class instead of two, a child merged into its parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import Outline, is_own_attribute, parameters, self_name
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import (
    Edit,
    Replacement,
    SourceTree,
    below,
    inside,
    is_name,
    small,
    substituted,
    suite,
    text,
)


@reduction(level=0, together="never")
def another_root(tree: SourceTree) -> Iterator[Edit]:
    """Make another class the model, with the same arguments. Helps if the outer classes only call it."""
    outline = Outline(tree)
    factory = outline.functions.get("make")
    if factory is None or outline.root is None:
        return
    for call in inside(factory, cst.Call):
        if isinstance(call.func, cst.Name) and call.func.value in outline.classes:
            for name in outline.classes:
                if name != call.func.value:
                    yield {call.func: cst.Name(name), outline.classes[call.func.value]: None}
                    yield {call: cst.Call(cst.Name(name)), outline.classes[call.func.value]: None}


@reduction(level=0, together="never")
def one_class_for_two(tree: SourceTree) -> Iterator[Edit]:
    """Use one class instead of two. Helps if they are alike, or if only the nesting matters."""
    classes = {node.name.value: node for node in tree.of(cst.ClassDef)}
    for gone, node in reversed(classes.items()):
        for kept in classes:
            if kept != gone:
                uses = [each for each in tree.of(cst.Name) if each.value == gone and each is not node.name]
                yield {node: None, **{each: cst.Name(kept) for each in uses}}


@reduction(level=1, together="never")
def children_taken_apart(tree: SourceTree) -> Iterator[Edit]:
    """Merge a child into its parent: replace ``self.child = Child()`` by the statements of its ``__init__``.

    Helps if nothing calls the child: ``calls_written_out`` runs before, and inlines calls.
    """
    outline = Outline(tree)
    for (owner, _), method in outline.methods.items():
        for line in inside(method, cst.SimpleStatementLine):
            made = _made(line, outline)
            if made is None:
                continue
            attribute, call, cls = made
            if any(key[0] == cls and key[1] not in ("__init__", "forward") for key in outline.methods):
                continue
            edit: dict[cst.CSTNode, Replacement] = {
                line: _init(outline, cls, call, cst.Name(self_name(method))),
            }
            for each in tree.of(cst.Attribute):
                inner = each.value
                if not isinstance(inner, cst.Attribute) or inner.attr.value != attribute:
                    continue
                if owner in outline.kinds(inner.value):
                    edit[each] = each.with_changes(value=inner.value)
            made_of_it = [call for call in tree.of(cst.Call) if is_name(call.func, cls)]
            if len(made_of_it) == 1:
                edit[outline.classes[cls]] = None
            yield edit


@reduction(level=1, together="never")
def fields(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a field of a dataclass or named tuple, or replace the object by the value of one field."""
    for cls in tree.of(cst.ClassDef):
        lines = [line for line in suite(cls.body) if isinstance(small(line), cst.AnnAssign)]
        names = [text(line).partition(":")[0].strip() for line in lines]
        calls = [call for call in tree.of(cst.Call) if is_name(call.func, cls.name.value)]
        for index, name in enumerate(names):
            given = [_field(call, index, name) for call in calls]
            yield {lines[index]: None, **{arg: None for arg in given if arg is not None}}
            edit: dict[cst.CSTNode, Replacement] = {cls: None}
            for call, arg in zip(calls, given, strict=True):
                if arg is not None:
                    edit[call] = arg.value
            for node in tree.of(cst.Attribute):
                if node.attr.value == name and not is_name(node.value, "self"):
                    edit[node] = node.value
            yield edit


def _field(call: cst.Call, index: int, name: str) -> cst.Arg | None:
    """Return the argument of a call for a field."""
    for number, arg in enumerate(call.args):
        if arg.keyword.value == name if arg.keyword is not None else number == index:
            return arg
    return None


def _made(line: cst.SimpleStatementLine, outline: Outline) -> tuple[str, cst.Call, str] | None:
    """Read ``self.name = Class(...)``."""
    first = line.body[0]
    around = outline.method_around(line)
    if not isinstance(first, cst.Assign) or not isinstance(first.value, cst.Call) or around is None:
        return None
    func, target = first.value.func, first.targets[0].target
    if not isinstance(func, cst.Name) or func.value not in outline.classes or len(first.targets) > 1:
        return None
    if not isinstance(target, cst.Attribute) or not is_own_attribute(target, around[1], target.attr.value):
        return None
    return target.attr.value, first.value, func.value


def _init(outline: Outline, cls: str, call: cst.Call, owner: cst.Name) -> Sequence[cst.BaseStatement]:
    """Return the statements of the ``__init__`` of a class, rewritten for its owner."""
    init = outline.methods.get((cls, "__init__"))
    if init is None or not isinstance(init.body, cst.IndentedBlock):
        return []
    new: dict[cst.CSTNode, cst.CSTNode] = {}
    given = given_arguments(init, call, bound=True)
    for name in below(init.body):
        if isinstance(name, cst.Name):
            if name.value == self_name(init):
                new[name] = owner
            elif name.value in given and not _is_word(init, name):
                new[name] = given[name.value]
    body = [line for line in init.body.body if not text(line).startswith("super()")]
    return [substituted(line, new) for line in body]


def _is_word(function: cst.FunctionDef, name: cst.Name) -> bool:
    """Whether a name is an attribute or a keyword, and not a variable."""
    for node in below(function):
        if (isinstance(node, cst.Attribute) and node.attr is name) or (
            isinstance(node, cst.Arg) and node.keyword is name
        ):
            return True
    return False


def given_arguments(
    function: cst.FunctionDef, call: cst.Call, *, bound: bool
) -> dict[str, cst.BaseExpression]:
    """Return the argument or default of each parameter of a call, except those that cannot be determined."""
    names = parameters(function)[int(bound) :]
    given: dict[str, cst.BaseExpression] = {}
    for param in (*function.params.params, *function.params.kwonly_params):
        if param.default is not None:
            given[param.name.value] = param.default
    for number, arg in enumerate(call.args):
        if arg.star:
            break
        if arg.keyword is not None:
            given[arg.keyword.value] = arg.value
        elif number < len(names):
            given[names[number]] = arg.value
    return given

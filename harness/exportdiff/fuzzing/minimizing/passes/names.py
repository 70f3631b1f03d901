"""Rename to short, usual names that say only the role."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import Outline, is_own_attribute
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree, below, inside, is_name, names_in, text

VARIABLES = ("x", "y", "z")
CLASSES = ("Child", "Inner", "Other")
CHILDREN = ("child", "other")
TENSORS = {"Parameter": "weight", "register_buffer": "buffer", "register_parameter": "weight"}


@reduction(level=3, together="all")
def classes(tree: SourceTree) -> Iterator[Edit]:
    """Rename the model to ``Model``, and the other classes to ``Child``, ``Inner``, ``Other``."""
    outline = Outline(tree)
    free = iter([name for name in CLASSES if name not in tree.names])
    for name in outline.classes:
        if name == outline.root:
            if name != "Model" and "Model" not in tree.names:
                yield _renamed(tree, name, "Model")
        elif name not in CLASSES and _is_module(outline.classes[name]) and (new := next(free, None)):
            yield _renamed(tree, name, new)


@reduction(level=3, together="all")
def variables_renamed(tree: SourceTree) -> Iterator[Edit]:
    """Rename parameters and variables to ``x``, ``y``, ``z``: in their function, in keywords and in keys."""
    for function in tree.of(cst.FunctionDef):
        bound = [each.name.value for each in inside(function, cst.Param)]
        for target in inside(function, cst.AssignTarget):
            bound += [each.value for each in inside(target.target, cst.Name)]
        taken = names_in(function)
        free = iter([name for name in VARIABLES if name not in taken])
        for name in dict.fromkeys(bound):
            if name not in (*VARIABLES, "self") and (new := next(free, None)):
                edit: dict[cst.CSTNode, cst.CSTNode] = {}
                for each in below(function):
                    if is_name(each, name) and not _is_word(tree, each):
                        edit[each] = cst.Name(new)
                for arg in tree.of(cst.Arg):
                    if arg.keyword is not None and arg.keyword.value == name:
                        edit[arg.keyword] = cst.Name(new)
                for string in tree.of(cst.SimpleString):
                    if string.value[1:-1] == name:
                        edit[string] = cst.SimpleString(f'"{new}"')
                yield edit


@reduction(level=3, together="all")
def attributes(tree: SourceTree) -> Iterator[Edit]:
    """Rename children, parameters and buffers by their role: ``child``, ``weight``, ``buffer``."""
    outline = Outline(tree)
    found: dict[str, str] = {}
    for method in outline.methods.values():
        for node in inside(method, cst.Assign):
            target = node.targets[0].target
            if isinstance(target, cst.Attribute) and is_own_attribute(target, method, target.attr.value):
                found[target.attr.value] = _role(outline, node.value)
        for call in inside(method, cst.Call):
            func = call.func
            if isinstance(func, cst.Attribute) and func.attr.value in TENSORS and call.args:
                written = call.args[0].value
                if isinstance(written, cst.SimpleString):
                    found[written.value[1:-1]] = TENSORS[func.attr.value]
    for name, role in found.items():
        wanted = CHILDREN if role == "child" else (role, "other")
        if name not in wanted:
            new = next(
                (each for each in wanted if each not in tree.names and each not in _strings(tree)), None
            )
            if new is not None:
                yield _renamed(tree, name, new)


def _is_module(node: cst.ClassDef) -> bool:
    return any(text(base.value) in ("nn.Module", "torch.nn.Module") for base in node.bases)


def _role(outline: Outline, value: cst.BaseExpression) -> str:
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        if value.func.attr.value in TENSORS:
            return TENSORS[value.func.attr.value]
        if isinstance(value.func.value, cst.Name) and value.func.value.value == "nn":
            return "child"
    return "child" if outline.kinds(value) else "buffer"


def _strings(tree: SourceTree) -> set[str]:
    return {node.value[1:-1] for node in tree.of(cst.SimpleString)}


def _renamed(tree: SourceTree, old: str, new: str) -> Edit:
    """Rename everywhere, also in strings that are equal to the name."""
    edit: dict[cst.CSTNode, cst.CSTNode] = {
        node: cst.Name(new) for node in tree.of(cst.Name) if node.value == old
    }
    for string in tree.of(cst.SimpleString):
        if string.value[1:-1] == old:
            edit[string] = cst.SimpleString(f'"{new}"')
    return edit


def _is_word(tree: SourceTree, node: cst.CSTNode) -> bool:
    parent = tree.parents[node]
    return isinstance(parent, cst.Attribute) and parent.attr is node

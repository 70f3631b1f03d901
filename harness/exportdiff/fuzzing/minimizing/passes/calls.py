"""Simplify arguments and parameters."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from exportdiff.fuzzing.minimizing.outline import Outline, parameters
from exportdiff.fuzzing.minimizing.passes.registry import reduction
from exportdiff.fuzzing.minimizing.tree import (
    Edit,
    Replacement,
    SourceTree,
    below,
    inside,
    is_name,
    names_in,
    substituted,
    text,
)


@reduction(level=0)
def unread_parameters(tree: SourceTree) -> Iterator[Edit]:
    """Leave out a parameter that its function does not read, and its argument in every call.

    For a parameter of the model, also in the example inputs, every probe and the dynamic shapes.
    """
    outline = Outline(tree)
    for function in reversed(list(tree.of(cst.FunctionDef))):
        owner = outline.owner(function)
        bound = owner is not None
        params = [*function.params.params[int(bound) :], *function.params.kwonly_params]
        star, kwargs = function.params.star_arg, function.params.star_kwarg
        params += [param for param in (star, kwargs) if isinstance(param, cst.Param)]
        read = names_in(function.body)
        calls = outline.calls_of(function)
        root = owner == outline.root and function.name.value == "forward"
        for param in params:
            name = param.name.value
            if name in read:
                continue
            edit: dict[cst.CSTNode, Replacement] = {param: None}
            names = parameters(function)
            index = names.index(name) - bound if name in names else None
            for call in calls:
                for arg in _given(call, name, index, param, len(names) - bound):
                    edit[arg] = None
            if root:
                for each in _root_arguments(outline, name, index):
                    edit[each] = None
            yield edit


def _given(
    call: cst.Call, name: str, index: int | None, param: cst.Param, most: int
) -> Iterator[cst.CSTNode]:
    for number, arg in enumerate(call.args):
        if arg.keyword is not None:
            meant = arg.keyword.value == name
        elif arg.star == "**" or param.star == "**":
            meant = arg.star == param.star
        elif param.star == "*":
            meant = number >= most
        else:
            meant = not arg.star and number == index
        if meant:
            yield arg


def _root_arguments(outline: Outline, name: str, index: int | None) -> Iterator[cst.CSTNode]:
    for args, kwargs in outline.given:
        if isinstance(args, cst.Tuple) and index is not None and index < len(args.elements):
            yield args.elements[index]
        yield from _keyed(kwargs, name)
    for spec in outline.specs:
        yield from _keyed(spec, name)
        if isinstance(spec, cst.Tuple | cst.List) and index is not None and index < len(spec.elements):
            yield spec.elements[index]


def _keyed(node: cst.CSTNode | None, name: str) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Dict):
        for element in node.elements:
            key = element.key if isinstance(element, cst.DictElement) else None
            if isinstance(key, cst.SimpleString) and key.value[1:-1] == name:
                yield element


@reduction(level=1)
def arguments(tree: SourceTree) -> Iterator[Edit]:
    """Leave out an argument of a call; keywords first, because they often have defaults."""
    args = list(tree.of(cst.Arg))
    for arg in reversed([arg for arg in args if arg.keyword is not None or arg.star]):
        yield {arg: None}
    for arg in reversed([arg for arg in args if arg.keyword is None and not arg.star]):
        yield {arg: None}


@reduction(level=1, together="all")
def star_parameters(tree: SourceTree) -> Iterator[Edit]:
    """Replace ``*rest`` by one parameter if the function reads only ``rest[0]``."""
    for function in tree.of(cst.FunctionDef):
        star = function.params.star_arg
        if not isinstance(star, cst.Param) or any(param.default for param in function.params.params):
            continue
        reads = [
            node
            for node in below(function.body)
            if isinstance(node, cst.Subscript) and is_name(node.value, star.name.value)
        ]
        params = function.params.with_changes(
            params=[*function.params.params, cst.Param(star.name)], star_arg=cst.MaybeSentinel.DEFAULT
        )
        yield {function.params: params, **{node: node.value for node in reads}}


@reduction(level=1, together="all")
def defaults(tree: SourceTree) -> Iterator[Edit]:
    """Leave out the default and the annotation of a parameter, and the return annotation of a function."""
    for param in tree.of(cst.Param):
        if param.default is not None:
            yield {param: param.with_changes(default=None, equal=cst.MaybeSentinel.DEFAULT)}
        if param.annotation is not None:
            yield {param: param.with_changes(annotation=None)}
    for function in tree.of(cst.FunctionDef):
        if function.returns is not None:
            yield {function: function.with_changes(returns=None)}
    for node in tree.of(cst.AnnAssign):
        if node.value is not None:
            yield {node: cst.Assign([cst.AssignTarget(node.target)], node.value)}


@reduction(level=1, together="all")
def keywords(tree: SourceTree) -> Iterator[Edit]:
    """Pass an argument by position instead of by name: ``f(x=y)`` becomes ``f(y)``."""
    for arg in tree.of(cst.Arg):
        # Without its name, a reader could not understand a flag.
        if arg.keyword is not None and text(arg.value) not in ("None", "True", "False"):
            yield {arg: arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)}


@reduction(level=1, together="all")
def called_directly(tree: SourceTree) -> Iterator[Edit]:
    """Call a function that is passed to a call: ``apply(f, (x, y))`` becomes ``f(x, y)``."""
    functions = {node.name.value for node in tree.of(cst.FunctionDef)}
    for call in tree.of(cst.Call):
        handed = [arg for arg in call.args if _is_function(arg.value, functions)]
        for function in handed:
            rest: list[cst.Arg] = []
            for arg in call.args[call.args.index(function) + 1 :]:
                if arg in handed or arg.star:
                    continue
                value = arg.value
                if isinstance(value, cst.Tuple | cst.List):
                    rest += [cst.Arg(each.value) for each in value.elements]
                else:
                    rest.append(cst.Arg(value))
            func = function.value
            if isinstance(func, cst.Lambda):
                func = func.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            yield {call: cst.Call(func, rest)}


def _is_function(node: cst.BaseExpression, functions: set[str]) -> bool:
    return isinstance(node, cst.Lambda) or (isinstance(node, cst.Name) and node.value in functions)


@reduction(level=1, together="never")
def lambdas_written_out(tree: SourceTree) -> Iterator[Edit]:
    """Replace the call of a ``lambda`` expression by its body."""
    for call in tree.of(cst.Call):
        if isinstance(call.func, cst.Lambda):
            names = [param.name.value for param in call.func.params.params]
            given = dict(zip(names, (arg.value for arg in call.args), strict=False))
            new: dict[cst.CSTNode, cst.CSTNode] = {
                node: given[node.value] for node in inside(call.func.body, cst.Name) if node.value in given
            }
            body = call.func.body
            yield {call: new[body] if body in new else substituted(body, new)}

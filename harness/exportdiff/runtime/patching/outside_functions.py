"""Finds what a patch changes outside of functions: tables, members of classes, defaults of arguments."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, TypeAlias

from exportdiff.runtime.patching.source import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def changed_tables(body: Iterable[ast.stmt], added: Set[int]) -> Iterator[tuple[str, ast.stmt, ast.expr]]:
    """Yield the sets and dicts of a module that get entries: name, statement, new entries.

    ``added``: the new lines. The statements are ``NAME = {...}`` and ``NAME.update({...})``.
    """
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
                | ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "update"), [value], []))
            ) if isinstance(value, ast.Set | ast.Dict):
                if entries := _new_entries(value, added):
                    yield name, node, entries


def _new_entries(display: ast.Set | ast.Dict, added: Set[int]) -> ast.expr | None:
    """Return a display of the entries that stand on new lines; None if there are none."""

    def is_new(node: ast.expr) -> bool:
        return not added.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    if isinstance(display, ast.Set):
        members = [each for each in display.elts if is_new(each)]
        return ast.copy_location(ast.Set(members), display) if members else None
    pairs = [
        (key, value)
        for key, value in zip(display.keys, display.values, strict=True)
        if key is not None and (is_new(key) or is_new(value))
    ]
    if not pairs:
        return None
    return ast.copy_location(ast.Dict([key for key, _ in pairs], [value for _, value in pairs]), display)


def changed_classes(
    body: Iterable[ast.stmt], added: Set[int], prefix: str = ""
) -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the existing classes that get other members, also those inside of classes.

    Each has its qualified name, and stands alone: without bases and decorators, with the new members only.
    """
    for node in body:
        if not isinstance(node, ast.ClassDef) or added >= set(lines_of(node)):
            continue
        name = f"{prefix}{node.name}"
        if members := [each for each in node.body if _is_new_member(each, added)]:
            alone = copy.copy(node)
            alone.bases, alone.keywords, alone.decorator_list, alone.body = [], [], [], members
            yield name, alone
        yield from changed_classes(node.body, added, f"{name}.")


def _is_new_member(node: ast.stmt, added: Set[int]) -> bool:
    """Whether a statement of a class is a new method, or gives a name another value."""
    if isinstance(node, Definition):
        return added >= set(lines_of(node))
    return isinstance(node, ast.Assign | ast.AnnAssign) and not added.isdisjoint(lines_of(node))


def changed_signatures(
    body: Iterable[ast.stmt], added: Set[int], prefix: str = ""
) -> Iterator[tuple[str, Definition, ast.expr]]:
    """Yield the existing functions and methods whose arguments change: qualified name, and new defaults.

    The defaults are an expression of a pair: a tuple for ``__defaults__``, a dict for ``__kwdefaults__``.
    """
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from changed_signatures(node.body, added, f"{prefix}{node.name}.")
        elif isinstance(node, Definition):
            head = range(node.lineno, node.body[0].lineno)
            if not added.isdisjoint(head) and not added >= set(lines_of(node)):
                yield f"{prefix}{node.name}", node, _defaults(node)


def decorator_lines(body: Iterable[ast.stmt], added: Set[int]) -> Iterator[int]:
    """Yield the lines of the decorators of existing functions, methods and classes: new code changes none."""
    for node in body:
        if isinstance(node, Definition | ast.ClassDef) and not added >= set(lines_of(node)):
            yield from range(lines_of(node).start, node.lineno)
        if isinstance(node, ast.ClassDef):
            yield from decorator_lines(node.body, added)


def _defaults(node: Definition) -> ast.expr:
    named = [
        (ast.Constant(arg.arg), value)
        for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if value is not None
    ]
    keywords = ast.Dict([name for name, _ in named], [value for _, value in named])
    pair = ast.Tuple([ast.Tuple(list(node.args.defaults), ast.Load()), keywords], ast.Load())
    return ast.fix_missing_locations(ast.copy_location(pair, node))

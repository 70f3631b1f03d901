"""Replaces text in one function of torch while a ``with`` block runs; planted faults use this."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import textwrap
import types
from functools import cache
from typing import TYPE_CHECKING, Any

from exportdiff.runtime.patching.code import exchanged

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def edited(function: Any, old: str, new: str, *more: tuple[str, str]) -> Iterator[None]:
    """Replace ``old`` by ``new`` in the source of ``function``, and likewise the pairs in ``more``.

    The function object stays and gets new code, so every module that has imported it runs the new code.
    Raises LookupError if the source does not contain a text exactly once: this torch has another source.
    """
    plain: types.FunctionType = inspect.unwrap(getattr(function, "__func__", function))
    original = plain.__code__
    source = textwrap.dedent(_source(original))
    for text, instead in ((old, new), *more):
        if source.count(text) != 1:
            raise LookupError(f"{plain.__qualname__} contains {text!r} {source.count(text)} times, not once")
        source = source.replace(text, instead)
    with exchanged([(plain, _compiled(source, original))]):
        yield


def _source(code: types.CodeType) -> str:
    """Return the source of a function in its file.

    Search by name, not by line: an installed fix moves the lines of the functions below it.
    """
    lines, found = _functions(code.co_filename)
    places = found.get(code.co_qualname, ())
    if not places:
        return inspect.getsource(code)
    start, stop = min(places, key=lambda place: abs(place[0] - code.co_firstlineno))
    return "".join(lines[start - 1 : stop])


@cache
def _functions(file: str) -> tuple[list[str], dict[str, list[tuple[int, int]]]]:
    """Return the lines of a file, and by qualified name the first and the last line of its functions."""
    lines = linecache.getlines(file)
    found: dict[str, list[tuple[int, int]]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inside = prefix
            if isinstance(child, ast.ClassDef):
                inside = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                start = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                found.setdefault(prefix + child.name, []).append((start, child.end_lineno or start))
                inside = f"{prefix}{child.name}.<locals>."
            visit(child, inside)

    visit(ast.parse("".join(lines)), "")
    return lines, found


def _compiled(source: str, original: types.CodeType) -> types.CodeType:
    """Return the code of the function that ``source`` defines, with the free variables of the original."""
    # As parameters of an outer function, the free variables stay free. The function's own name must stay
    # global unless it was a free variable.
    global_name = "" if original.co_name in original.co_freevars else f" global {original.co_name}\n"
    outer = f"def outer({', '.join(original.co_freevars)}):\n{global_name}{textwrap.indent(source, ' ')}"
    # The same file and nearly the same line numbers, so that tracebacks stay useful.
    shifted = "\n" * max(0, original.co_firstlineno - 3) + outer
    code = compile(shifted, original.co_filename, "exec", dont_inherit=True, flags=_future(original))
    code = _inner(_inner(code, "outer"), original.co_name)
    if code.co_freevars != original.co_freevars:
        raise LookupError(f"{original.co_qualname} captures {original.co_freevars}, not {code.co_freevars}")
    return code


def _future(code: types.CodeType) -> int:
    """Return the flags of the ``from __future__`` imports that ``code`` was compiled under."""
    import __future__

    features = (getattr(__future__, name) for name in __future__.all_feature_names)
    return sum(feature.compiler_flag for feature in features if code.co_flags & feature.compiler_flag)


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if inspect.iscode(each) and each.co_name == name)

"""Decides which functions in this process can get new code, and which keep their old code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fix import FixError, FixNotHereError
from exportdiff.runtime.patching.live import belongs_to_package

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from types import CodeType, FunctionType

    from exportdiff.runtime.patching.compiling import Key


def calls_with_old_code(
    path: str,
    codes: Iterable[tuple[Key, CodeType]],
    functions_of: Mapping[Key, list[FunctionType]],
    other_arguments: Container[Key] = (),
) -> frozenset[str]:
    """Return the functions whose earlier calls made nested functions that cannot get the new code.

    For example, a compiled model has nested functions of torch, and a fix makes these capture another
    variable. All nested functions of such calls keep their old code; later calls make new ones.
    ``other_arguments``: the functions that get new defaults as well. Raises FixError if new code alone cannot
    make the change.
    """
    found = set()
    for key, code in codes:
        where = f"{path}, {code.co_qualname}"
        functions = functions_of.get(key, [])
        if not functions and not is_nested(code):
            raise FixError(f"{where}: this torch has no such function")
        same = key not in other_arguments
        problems = {
            each: problem
            for each in functions
            if (problem := _why_not_replaceable(each, code, same_arguments=same))
        }
        if problems and not is_nested(code):
            raise FixError(f"{where}: {next(iter(problems.values()))}")
        if problems and belongs_to_package(problems, path.partition("/")[0]):
            raise FixNotHereError(f"{where}: {next(iter(problems.values()))}")
        if problems:
            found.add(outermost(code))
    return frozenset(found)


def outermost(code: CodeType) -> str:
    """Return the name of the function around a nested function; a function's own name if it is not nested."""
    return code.co_qualname.partition(".<locals>")[0]


def is_nested(code: CodeType) -> bool:
    """Whether a function is defined in another function, so that each call of that makes a new one."""
    return "<locals>" in code.co_qualname


def _why_not_replaceable(function: FunctionType, code: CodeType, *, same_arguments: bool) -> str:
    old = function.__code__
    if old.co_freevars != code.co_freevars:
        return "a fix must not change which variables a function captures"
    if same_arguments and old.co_varnames[: old.co_argcount] != code.co_varnames[: code.co_argcount]:
        return "a fix must not change the arguments of a nested function"
    return ""

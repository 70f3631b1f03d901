"""Finds the examples in the docstrings of torch, as source text."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOTS = ("torch.nn", "torch.export", "torch.func", "torch.utils.checkpoint", "torch.nn.utils")
"""The modules whose documentation is read, with their submodules."""

_INDENTED = re.compile(r"::(?: *python3?)?[ ]*\n(?:[ ]*:\w+:.*\n)*\s*\n((?:[ \t]+\S.*\n|[ \t]*\n)+)")
"""The block of code behind two colons."""


@dataclass(frozen=True)
class Example:
    """One block of code in the docstring of one object."""

    name: str
    """The object as people write it, and the number of the block."""
    code: str
    """The block alone."""
    before: str
    """The blocks before it in the same docstring, which may define what it uses."""
    needs: str
    """The line that imports the object: examples use it without saying where it is."""


def examples() -> Iterator[Example]:
    """Yield the examples of all documented objects, in a fixed order; a text that occurs twice only once."""
    seen: set[str] = set()
    for name, needs, text in _docstrings():
        before = ""
        for number, code in enumerate(blocks(text)):
            if code not in seen:
                seen.add(code)
                yield Example(f"{name}.{number}" if number else name, code, before, needs)
            before += code


def blocks(text: str) -> Iterator[str]:
    """Yield the blocks of Python code of a docstring: sessions of ``>>>``, or what follows two colons."""
    text = textwrap.dedent(text.expandtabs()) + "\n"
    sessions = [code for code in _sessions(text) if _is_code(code)]
    if sessions:
        yield from sessions
        return
    for found in _INDENTED.finditer(text):
        code = textwrap.dedent(found.group(1)).strip() + "\n"
        if _is_code(code):
            yield code


def _sessions(text: str) -> Iterator[str]:
    """Yield the statements of sessions; prose or a heading ends one."""
    try:
        parts = doctest.DocTestParser().parse(text)
    except ValueError:  # its indentation is no session's
        return
    lines: list[str] = []
    for part in parts:
        if isinstance(part, doctest.Example):
            lines.append(part.source)
        elif part.strip() and lines:
            yield "".join(lines)
            lines = []
    if lines:
        yield "".join(lines)


def _is_code(code: str) -> bool:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _docstrings() -> Iterator[tuple[str, str, str]]:
    """Yield the name, the import and the docstring of each object; an object with two names only once."""
    seen: set[int] = set()
    for module in _modules():
        for name, value in sorted(vars(module).items()):
            if _is_documented(name, value) and id(value) not in seen:
                seen.add(id(value))
                written = f"{module.__name__.removeprefix('torch.')}.{name}"
                needs = f"from {module.__name__} import {name}\n"
                yield from ((each, needs, text) for each, text in _of_object(written, value))


def _of_object(name: str, value: Any) -> Iterator[tuple[str, str]]:
    yield name, value.__doc__ or ""
    if inspect.isclass(value):
        for member, each in vars(value).items():
            function = getattr(each, "__func__", each)
            if not member.startswith("_") and callable(function) and function.__doc__:
                yield f"{name}.{member}", function.__doc__


def _is_documented(name: str, value: Any) -> bool:
    """Whether a value of a module is a public function or class of torch."""
    if name.startswith("_") or not callable(value):
        return False
    return str(getattr(value, "__module__", None) or "torch").partition(".")[0] == "torch"


def _modules() -> Iterator[ModuleType]:
    for root in ROOTS:
        package = importlib.import_module(root)
        yield package
        for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{root}."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                try:
                    yield importlib.import_module(found.name)
                except ImportError:  # it needs a package that is not installed
                    continue

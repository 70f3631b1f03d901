"""Finds out whether the installed torch has a name, without importing torch, which takes seconds."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@cache
def has(name: str) -> bool:
    """Whether torch has a name: ``torch.export.passes.move_to_device_pass``, ``torch._ops.OpOverload.name``.

    Use the module that defines the name, or one that imports it. This does not find members of an imported
    class, or names that C++ defines. Raises ValueError for a name that does not begin with torch.
    """
    first, *rest = name.split(".")
    if first != "torch" or not rest:
        raise ValueError(f"{name!r} is not the full name of something in torch")
    folder = torch_folder()
    while rest and (folder / rest[0]).is_dir():
        folder = folder / rest.pop(0)
    if rest and (folder / f"{rest[0]}.py").is_file():
        return _binds(folder / f"{rest[0]}.py", tuple(rest[1:]))
    return _binds(folder / "__init__.py", tuple(rest))


@cache
def torch_build() -> str:
    """Return the version of the installed torch with its build, such as ``2.13.0+cpu``."""
    return version("torch")


def torch_version() -> str:
    """Return the version of the installed torch, such as ``2.13.0``, without the build (``+cpu``)."""
    return torch_build().partition("+")[0]


@cache
def torch_folder() -> pathlib.Path:
    """Return the folder of the installed torch. Raises ModuleNotFoundError."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("torch is not installed", name="torch")
    return pathlib.Path(found.origin).parent


def _binds(file: pathlib.Path, names: Sequence[str]) -> bool:
    """Whether the top level of a file binds the first name, and the class of that name the second."""
    if not file.is_file():
        return False
    body = _parsed(file).body
    for name in names:
        found = next((node for bound, node in _bindings(body) if bound == name), None)
        if found is None:
            return False
        body = found.body if isinstance(found, ast.ClassDef) else []
    return True


@cache
def _parsed(file: pathlib.Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name, node) for alias in node.names)
        elif isinstance(node, ast.AnnAssign):
            yield from _targets(node.target, node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _targets(target, node)
        elif isinstance(node, ast.If | ast.Try):
            yield from _bindings(node.body)
            yield from _bindings(node.orelse)


def _targets(target: ast.expr, node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    if isinstance(target, ast.Name):
        yield target.id, node
    elif isinstance(target, ast.Tuple):
        for each in target.elts:
            yield from _targets(each, node)

"""Reads the table ``[tool.exportdiff]`` of a user's ``pyproject.toml``. Imports no torch."""

from __future__ import annotations

import difflib
import pathlib
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from exportdiff.core.target import Target

NAME = "pyproject.toml"
SHAPES = "dynamic-shapes"
"""The key of the table that has the dynamic shapes of each factory."""


@dataclass(frozen=True)
class ProjectFile:
    """The settings of one project."""

    file: pathlib.Path | None = None
    """None: no file has the table."""
    values: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, Any] = field(default_factory=dict)
    """The dynamic shapes by factory; see ``interfaces/checking/written_shapes.py``."""

    def shapes_of(self, target: Target) -> Any:
        """Return the dynamic shapes for a factory as they are written; None if there are none."""
        if self.file is None:
            return None
        for key, shapes in self.shapes.items():
            module, _, name = key.rpartition(":")
            if name == target.name and self._is_module(module, target.module):
                return shapes
        return None

    def _is_module(self, written: str, module: str) -> bool:
        if not module.endswith(".py") or self.file is None:
            return written == module
        return (self.file.parent / written).resolve() == pathlib.Path(module).resolve()

    def wrong(self, key: str, problem: str) -> UsageError:
        """Return the error about one key."""
        return UsageError(f"{self.file}: [tool.exportdiff] {key}: {problem}")


def read_project_file(keys: Collection[str], start: pathlib.Path) -> ProjectFile:
    """Read the nearest ``pyproject.toml`` with the table, in a folder or above it.

    ``keys``: the names that are allowed as well as ``dynamic-shapes``. Raises UsageError for other names, and
    for a file that cannot be read.
    """
    for folder in (start, *start.parents):
        file = folder / NAME
        if (table := _table(file)) is not None:
            shapes = table.pop(SHAPES, {})
            found = ProjectFile(file, table, shapes)
            _check_keys(found, [*keys, SHAPES])
            return found
    return ProjectFile()


def _table(file: pathlib.Path) -> Any:
    """Return the table of a file; None if there is no such file, or no table in it."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except ValueError as error:  # no TOML, or no text
        raise UsageError(f"{file} is no TOML file: {error}") from None
    tools = document.get("tool")
    table = tools.get("exportdiff") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{file}: tool.exportdiff is no table; write [tool.exportdiff]")
    return table


def _check_keys(found: ProjectFile, allowed: list[str]) -> None:
    for key in found.values:
        if key not in allowed:
            like = difflib.get_close_matches(key, allowed, 1)
            hint = f"did you mean {like[0]}?" if like else f"there are {', '.join(sorted(allowed))}"
            raise found.wrong(key, f"there is no such setting; {hint}")
    if not isinstance(found.shapes, dict):
        raise found.wrong(SHAPES, "write a table from FILE.py:NAME to shapes")
    for key, shapes in found.shapes.items():
        module, _, name = key.rpartition(":")
        if not module or not name.isidentifier():
            raise found.wrong(f"{SHAPES} {key!r}", "write FILE.py:NAME or package.module:NAME")
        if problem := _problem(shapes):
            raise found.wrong(f"{SHAPES} {key!r}", problem)


def _problem(shapes: Any, inside: bool = False) -> str:
    """Say what is wrong about written shapes; empty if nothing is."""
    if isinstance(shapes, list):
        return next(filter(None, (_problem(each, inside=True) for each in shapes)), "")
    if not isinstance(shapes, dict):
        return f'{shapes!r} is no table of dimensions; write {{ 0 = "batch" }}'
    if not shapes and not inside:
        return "the table is empty"
    if not is_of_dimensions(shapes):
        return next(filter(None, (_problem(each, inside=True) for each in shapes.values())), "")
    return next(filter(None, map(_problem_of_dimension, shapes.values())), "")


def is_of_dimensions(shapes: Mapping[str, Any]) -> bool:
    """Whether the keys of a table are numbers of dimensions; else they are names of arguments."""
    return all(key.isascii() and key.isdigit() for key in shapes)


def _problem_of_dimension(size: Any) -> str:
    if isinstance(size, dict):
        numbers = [size.get("min", 0), size.get("max", 0)]
        fine = {"name"} <= size.keys() <= {"name", "min", "max"} and _is_name(size["name"])
        if fine and all(type(each) is int for each in numbers):
            return ""
    elif _is_name(size) or (type(size) is int and size >= 0):
        return ""
    return f"{size!r} is no size; write auto, dynamic, static, a name, a number, or a table of name, min, max"


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and text.isidentifier()

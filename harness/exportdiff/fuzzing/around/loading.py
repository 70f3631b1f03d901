"""Reads the model for ``--around``: ``FILE.py:NAME`` or ``package.module:NAME``."""

from __future__ import annotations

import ast
import pathlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS, InvalidFactory, case_from_source
from exportdiff.core.target import Target
from exportdiff.fuzzing.around.drawing import around_program, with_situations
from exportdiff.fuzzing.around.model import IMPORTS, ORIGINAL, Around, UnusableModel
from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.fuzzing.minimizing.program_file import with_functions

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_around(written: str) -> Around:
    """Return the model: the text of a file, or the import of a module. Raises UsageError.

    ``dynamic_shapes`` and ``probes`` are left out, because they may not fit the arguments of a parent.
    """
    target = Target.parse(written)
    if not target.module.endswith(".py"):
        here = _import_from(pathlib.Path.cwd())
        return Around(written, f"{here}{IMPORTS}from {target.module} import {target.name} as {ORIGINAL}\n")
    file = pathlib.Path(target.module)
    text = file.read_text(encoding="utf-8")
    names: dict[str, str | None] = {ORIGINAL: target.name, FACTORY: None, **dict.fromkeys(OPTIONAL_FUNCTIONS)}
    carried = with_functions(text, names)
    folder = _import_from(file.resolve().parent) if _imports_from_folder(text, file.resolve().parent) else ""
    return Around(written, _below_future(carried, folder + IMPORTS))


def drawn_or_refused(
    around: Around, seed: int, example: int | None
) -> tuple[str, tuple[str, ...]] | UnusableModel:
    """Draw an example; if it is None, return the model without a situation."""
    try:
        if example is not None:
            return around_program(around, seed, example)
        alone = with_situations(around, ())
        return alone.source, alone.tags
    except Exception as error:
        if wrong := _wrong_factory(around):
            return UnusableModel(wrong)
        lines = str(error).strip().splitlines()
        return UnusableModel(f"it does not run in eager: {type(error).__name__}: {lines[0] if lines else ''}")


def _wrong_factory(around: Around) -> str:
    """Say what is wrong with what the function of the user returns; empty: nothing, or it raises."""
    with suppress(Exception):
        case = case_from_source(f"{around.source}\n\n\n{FACTORY} = {ORIGINAL}\n")
        try:
            replace(case, name="it").build()
        except InvalidFactory as error:
            return str(error)
    return ""


def _import_from(folder: pathlib.Path) -> str:
    # Not "import sys": repro files recognize that line as their own.
    return f"from sys import path as folders\n\nfolders.insert(0, {str(folder)!r})\n"


def _imports_from_folder(text: str, folder: pathlib.Path) -> bool:
    """Whether the text imports a module from its own folder."""
    return any((folder / f"{name}.py").exists() or (folder / name).is_dir() for name in _imported(text))


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _below_future(text: str, lines: str) -> str:
    """Insert lines at the top of a text, below its docstring and its imports from ``__future__``."""
    body = ast.parse(text).body
    last = 0
    for number, node in enumerate(body):
        doc = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not doc and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        last = node.end_lineno or 0
    above, below = text.splitlines(keepends=True)[:last], text.splitlines(keepends=True)[last:]
    return f"{''.join(above)}{lines}{''.join(below)}"

"""Loads and judges the user's own model."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.case import Case, InvalidFactory
from harness.errors import UsageError
from harness.judge.judge_case import judge_case
from harness.known.attribution import explain
from harness.known.knowledge import knowledge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from harness.engine.target import Target
    from harness.judge.results import Verdict
    from harness.known.attribution import Explained
    from harness.path import Path


def judge_target(target: Target, paths: Sequence[Path]) -> Verdict | str:
    """Judge the user's model in this process; return a message if the user made a mistake."""
    try:
        return judge_case(load(target), paths)
    except UsageError as error:
        return str(error)


def explain_target(target: Target, verdict: Verdict, corpora: pathlib.Path) -> tuple[Explained, ...]:
    """Return which findings of the verdict a fix of the corpus explains; see ``attribution.explain``.

    A user's own model has no tags, so no trigger of the corpus matches it.
    """
    return explain(load(target), verdict, (), knowledge(corpora))


def load(target: Target) -> Case:
    """Import the target and build it once. Raises UsageError, which names the exception and its line."""
    module = _import(target)
    file = getattr(module, "__file__", None)
    if not hasattr(module, target.name):
        raise UsageError(f"{target.module} defines no {target.name!r}")
    factory = getattr(module, target.name)
    if not callable(factory):
        kind = type(factory).__name__
        raise UsageError(f"{target.written} is a {kind}; name a callable that returns (model, args)")
    source = pathlib.Path(file).read_text(encoding="utf-8") if file and file.endswith(".py") else ""
    case = replace(Case.of_module(vars(module), source, target.written, target.name), thorough=True)
    try:
        case.build()
        case.shapes()
    except InvalidFactory as error:
        raise UsageError(str(error)) from None
    except Exception as error:
        raise UsageError(f"{target.written} raised {_described(error, file)}") from None
    return case


def _import(target: Target) -> ModuleType:
    file = pathlib.Path(target.module)
    # ``python FILE`` can import from the folder of FILE; a child of the fork server cannot.
    sys.path.insert(0, str(file.resolve().parent) if target.module.endswith(".py") else "")
    try:
        if not target.module.endswith(".py"):
            return importlib.import_module(target.module)
        name = f"exportdiff_target_{file.stem}"
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise UsageError(f"{file} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        # Dynamo imports the module of every function that it inlines.
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        described = _described(error, str(file))
        raise UsageError(f"{target.module} does not import: {described}") from None
    return module


def _described(error: BaseException, file: str | None) -> str:
    """Return ``NameError: name 'x' is not defined (line 3)``."""
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    inside = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if file is not None and pathlib.Path(frame.filename).resolve() == pathlib.Path(file).resolve()
    ]
    return f"{text} (line {inside[-1]})" if inside else text

"""Turns the model of a test into a small file that shows the finding without the test."""

from __future__ import annotations

import inspect
import pathlib
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.fuzzing.minimizing import NotShownError, minimize, ship
from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.fuzzing.minimizing.program_file import with_functions
from exportdiff.interfaces.output_files import replace_text
from exportdiff.repro.confirm import confirm

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.minimizing.shipping import Shipped


class NoSourceError(Exception):
    """No repro file can be made from the model; the message says why, and what to do."""


@dataclass(frozen=True)
class FactorySource:
    """The text of a program with ``make()``, and the file that it comes from."""

    text: str
    file: pathlib.Path
    factory: str
    """The name of the function in that file."""

    @property
    def folder(self) -> str:
        """The folder of the file; the text may import from it."""
        return str(self.file.parent)


@dataclass(frozen=True)
class WrittenRepro:
    """A repro file on disk."""

    file: pathlib.Path
    finished: bool
    """Whether no pass makes the program smaller; else the time was over, or the user interrupted."""
    interrupted: bool
    problem: str = ""
    """Why the file does not show the finding when it is run; empty if it does."""


def source_of(model: object, dynamic_shapes: object = None, probes: object = None) -> FactorySource:
    """Return the source of a factory that was passed to ``compare``. Raises NoSourceError.

    The factory and the functions for dynamic shapes and probes must be at the top level of one file.
    """
    if not isinstance(model, types.FunctionType):
        what = "a class" if inspect.isclass(model) else "an object"
        raise NoSourceError(
            f"the model was given as {what}: give a function at the top level of a file that returns (model, "
            "args)"
        )
    file = _file_of(model)
    given = dict(zip(OPTIONAL_FUNCTIONS, (dynamic_shapes, probes), strict=True))
    names: dict[str, str | None] = {FACTORY: model.__name__}
    for name, value in given.items():
        if value is not None and (not isinstance(value, types.FunctionType) or _file_of(value) != file):
            raise NoSourceError(
                f"{name} was given as a value: give a function in {file.name} that returns it"
            )
        names[name] = None if value is None else value.__name__
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSourceError(f"{file} cannot be read: {error}") from None
    return FactorySource(with_functions(text, names), file, model.__name__)


def _file_of(function: types.FunctionType) -> pathlib.Path:
    """Return the file of a function at the top level of a module. Raises NoSourceError."""
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    if getattr(module, function.__name__, None) is not function or file is None:
        raise NoSourceError(f"{function.__qualname__} is not at the top level of a file: move it there")
    return pathlib.Path(file).resolve()


def write_repro(source: FactorySource, finding: Finding, file: pathlib.Path, seconds: float) -> WrittenRepro:
    """Minimize for at most ``seconds``, and write the repro file; create its folder if it is missing.

    Raises NoSourceError if the text alone does not show the finding, and OSError.
    """
    try:
        minimized = minimize(source.text, finding, seconds=seconds, folders=(source.folder,))
    except NotShownError:
        raise NoSourceError(
            f"{source.file.name} alone does not show the finding: {source.factory} must return (model, args) "
            "without fixtures, globals and modules of the test run"
        ) from None
    shipped: Shipped = ship(minimized, lambda text: confirm(text, source.folder))
    file.parent.mkdir(parents=True, exist_ok=True)
    # In one step, because another worker may write the same file.
    replace_text(file, shipped.text)
    interrupted = not minimized.finished and minimized.seconds < seconds
    problem = "" if shipped.confirmed else shipped.reason
    return WrittenRepro(file, minimized.finished, interrupted, problem)

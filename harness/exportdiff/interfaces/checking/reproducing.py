"""From a model that a test gave to exportdiff, to a small file that shows the finding without the test."""

from __future__ import annotations

import inspect
import os
import pathlib
import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.case import OPTIONAL_FUNCTIONS
from exportdiff.fuzzing.minimizing import NotShownError, minimize, ship
from exportdiff.fuzzing.minimizing.outline import FACTORY
from exportdiff.fuzzing.minimizing.subject import with_functions
from exportdiff.repro.confirm import confirm

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.minimizing.shipping import Shipped


class NoSourceError(Exception):
    """No file holds the model; the message says why, and what to do about it."""


@dataclass(frozen=True)
class Source:
    """The text of a file with ``make()``, and the place that it is from."""

    text: str
    file: pathlib.Path
    factory: str
    """The name of the function in that file."""

    @property
    def folder(self) -> str:
        """The folder of the file, from which the text may import."""
        return str(self.file.parent)


@dataclass(frozen=True)
class Written:
    """A repro file that was written."""

    file: pathlib.Path
    finished: bool
    """Whether no pass makes the program smaller; else the time was over, or somebody interrupted it."""
    interrupted: bool
    problem: str = ""
    """Why the file does not show the finding when it is run; empty if it does."""


def source_of(model: object, dynamic_shapes: object = None, probes: object = None) -> Source:
    """Find the source of a factory that was given to ``compare``. Raises NoSourceError.

    The factory, and what describes its dynamic shapes, have to be functions at the top level of one file.
    """
    if not isinstance(model, types.FunctionType):
        what = "a class" if inspect.isclass(model) else "an object"
        raise NoSourceError(
            f"the model was given as {what}, and no file says how to build it: give a function of your "
            "module that returns (model, args)"
        )
    file = _file_of(model)
    given = dict(zip(OPTIONAL_FUNCTIONS, (dynamic_shapes, probes), strict=True))
    names: dict[str, str | None] = {FACTORY: model.__name__}
    for name, value in given.items():
        if value is not None and (not isinstance(value, types.FunctionType) or _file_of(value) != file):
            raise NoSourceError(
                f"{name} was given as a value: give a function of {file.name} that returns it, which the "
                "file can contain"
            )
        names[name] = None if value is None else value.__name__
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSourceError(f"{file} cannot be read: {error}") from None
    return Source(with_functions(text, names), file, model.__name__)


def _file_of(function: types.FunctionType) -> pathlib.Path:
    """Return the file of a function at the top level of a module. Raises NoSourceError."""
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    if getattr(module, function.__name__, None) is not function or file is None:
        raise NoSourceError(
            f"{function.__qualname__} is no function at the top level of a file: move it there, so that the "
            "file can contain it"
        )
    return pathlib.Path(file).resolve()


def write_repro(source: Source, finding: Finding, file: pathlib.Path, seconds: float) -> Written:
    """Minimize for so many seconds, and write the repro file in one step; its folder is made.

    Raises NoSourceError if the text alone does not show the finding, and OSError.
    """
    try:
        minimized = minimize(source.text, finding, seconds=seconds, folders=(source.folder,))
    except NotShownError:
        raise NoSourceError(
            f"{source.file.name} does not show it by itself: {source.factory} has to return (model, args) "
            "without the fixtures, globals and modules of the test run"
        ) from None
    shipped: Shipped = ship(minimized, lambda text: confirm(text, source.folder))
    file.parent.mkdir(parents=True, exist_ok=True)
    # In one step: another worker may write the same file.
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(shipped.text, encoding="utf-8")
    new.replace(file)
    interrupted = not minimized.finished and minimized.seconds < seconds
    problem = "" if shipped.confirmed else shipped.reason
    return Written(file, minimized.finished, interrupted, problem)

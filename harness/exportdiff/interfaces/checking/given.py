"""What the user gives besides the model: files and a tolerance. Plain data; imports no torch."""

from __future__ import annotations

import pathlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from exportdiff.core.tolerance import Tolerance

PROGRAMS = {".pt2": "file:*", ".onnx": "onnx:saved", ".pte": "executorch:saved"}
"""By the suffix of a saved program: the pattern of the paths that run it."""
INPUTS = (".safetensors", ".npz", ".pt")
"""The suffixes of files with inputs."""


@dataclass(frozen=True)
class Given:
    """The files of the options ``--program`` and ``--inputs``."""

    program: pathlib.Path | None = None
    """What somebody else has exported; as the user wrote it."""
    inputs: pathlib.Path | None = None
    """The inputs of the example; as the user wrote it."""
    tolerance: Tolerance | None = None
    """How far values may be from those of eager; None: exportdiff derives it."""
    folder: pathlib.Path = pathlib.Path()
    """The folder in which the user wrote that: child processes work in another one."""

    @property
    def options(self) -> tuple[str, ...]:
        """The words with which a command gets the same."""
        return tuple(self._words())

    def _words(self) -> Iterator[str]:
        if self.program is not None:
            yield f"--program {shlex.quote(str(self.program))}"
        if self.inputs is not None:
            yield f"--inputs {shlex.quote(str(self.inputs))}"
        if self.tolerance is not None:
            yield from self.tolerance.options

    @property
    def paths(self) -> str:
        """The pattern of the paths that run the saved program; empty: there is none."""
        return "" if self.program is None else PROGRAMS[self.program.suffix]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report must know, each a sentence."""
        if self.tolerance is None:
            return ()
        conditions = ", and ".join(self.tolerance.conditions())
        return (f"tolerated on all paths, also on those that promise the bits of eager: {conditions}",)

    @property
    def reads_files(self) -> bool:
        """Whether a file must be read before anything can be judged."""
        return self.program is not None or self.inputs is not None

    def check(self) -> None:
        """Raise UsageError if it can be seen from outside that a file is wrong."""
        if self.program is not None:
            _check_file("--program", self.program, PROGRAMS)
        if self.inputs is not None:
            _check_file("--inputs", self.inputs, INPUTS)


NOTHING = Given()
"""The user gives the model alone."""


def _check_file(option: str, file: pathlib.Path, suffixes: Iterable[str]) -> None:
    """Raise UsageError for a file that does not exist, or has none of the suffixes."""
    if not file.exists():
        raise UsageError(f"{option} {file}: there is no such file")
    if file.is_dir():
        raise UsageError(f"{option} {file}: it is a folder")
    if file.suffix not in suffixes:
        raise UsageError(f"{option} {file}: the name of such a file ends in {' or '.join(suffixes)}")

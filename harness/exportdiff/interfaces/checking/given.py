"""What the user gives besides the model: files and a tolerance. Plain data; imports no torch."""

from __future__ import annotations

import pathlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = (".pt2",)
"""The suffixes of saved programs."""


@dataclass(frozen=True)
class Given:
    """The files of the options ``--program`` and ``--inputs``."""

    program: pathlib.Path | None = None
    """What somebody else has exported; as the user wrote it."""
    folder: pathlib.Path = pathlib.Path()
    """The folder in which the user wrote that: child processes work in another one."""

    @property
    def options(self) -> tuple[str, ...]:
        """The words with which a command gets the same."""
        return tuple(self._words())

    def _words(self) -> Iterator[str]:
        if self.program is not None:
            yield f"--program {shlex.quote(str(self.program))}"

    @property
    def reads_files(self) -> bool:
        """Whether a file must be read before anything can be judged."""
        return self.program is not None

    def check(self) -> None:
        """Raise UsageError if it can be seen from outside that a file is wrong."""
        if self.program is None:
            return
        if self.program.suffix == ".pte":
            raise UsageError(
                f"--program {self.program}: a .pte file needs a backend for ExecuTorch, and there is none "
                "here; give the .pt2 file of the same model"
            )
        _check_file("--program", self.program, PROGRAMS)


NOTHING = Given()
"""The user gives the model alone."""


def _check_file(option: str, file: pathlib.Path, suffixes: tuple[str, ...]) -> None:
    """Raise UsageError for a file that does not exist, or has none of the suffixes."""
    if not file.exists():
        raise UsageError(f"{option} {file}: there is no such file")
    if file.is_dir():
        raise UsageError(f"{option} {file}: it is a folder")
    if file.suffix not in suffixes:
        known = " or ".join(suffixes)
        raise UsageError(f"{option} {file}: the name of such a file ends in {known}")

"""The messages between a command and the processes of another torch: one JSON object per line.

They are not pickled, because the two sides may have different versions of Python and torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from exportdiff.core.plain_data import dumps, loads

OtherStatus: TypeAlias = Literal["ok", "unsupported", "finding", "unjudged"]
"""The status of a path; ``unjudged``: nothing was compared, or that torch lacks the path."""


@dataclass(frozen=True)
class JudgeProgram:
    """Judge a program along some paths."""

    source: str
    paths: tuple[str, ...]
    fixes: tuple[str, ...] = ()
    """The names of the fixes to install; empty: plain torch."""
    corpora: str = ""
    """The corpus with these fixes."""


@dataclass(frozen=True)
class WriteRepro:
    """Judge a program along one path, and write a repro file for the finding with this signature."""

    source: str
    path: str
    signature: tuple[str, ...]


@dataclass(frozen=True)
class RunFile:
    """Run a text as a script in a fresh process."""

    text: str
    seconds: float
    fixes: tuple[str, ...] = ()
    corpora: str = ""


@dataclass(frozen=True)
class PathAnswer:
    """What a program shows on one path."""

    path: str
    status: OtherStatus
    reason: str = ""
    """Why it is not ok, in a few words."""
    signatures: tuple[tuple[str, ...], ...] = ()
    """The signatures of its findings."""


@dataclass(frozen=True)
class ProgramAnswer:
    """The answer to JudgeProgram."""

    valid: bool
    reason: str
    """Why it is not valid."""
    paths: tuple[PathAnswer, ...] = ()

    def on(self, path: str) -> PathAnswer:
        """Return what the program shows on a path."""
        if not self.valid:
            return PathAnswer(path, "unjudged", self.reason)
        found = (shown for shown in self.paths if shown.path == path)
        return next(found, PathAnswer(path, "unjudged", "nothing was compared"))


@dataclass(frozen=True)
class ReproAnswer:
    """The answer to WriteRepro; if the program does not show that finding, the text is empty."""

    text: str
    fingerprint: str = ""


@dataclass(frozen=True)
class FileAnswer:
    """The answer to RunFile."""

    code: int | None
    """The exit code, negative for a signal; None: the time limit was reached."""
    line: str
    """The last line that it printed."""


@dataclass(frozen=True)
class ErrorAnswer:
    """exportdiff's own code raised an exception there, or the process ended."""

    error: str


Question: TypeAlias = JudgeProgram | WriteRepro | RunFile
Answer: TypeAlias = ProgramAnswer | ReproAnswer | FileAnswer | ErrorAnswer


def encoded(number: int, message: Question | Answer) -> str:
    """Return a message as a line; an answer has the number of its question."""
    return dumps((number, message))


def decoded(line: str) -> tuple[int, Question | Answer]:
    """Read a line. Raises ValueError if it is no message."""
    try:
        number, message = loads(line)
    except (TypeError, ValueError):
        raise ValueError(f"no message: {line[:200]!r}") from None
    if not isinstance(message, Question | Answer):
        raise ValueError(f"no message: {line[:200]!r}")
    return int(number), message

"""What a command and the processes of another torch send each other: one JSON object a line.

No pickle: the two sides may run other versions of Python and torch, and a line can be read by people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from exportdiff.core.plain_data import dumps, loads

OtherStatus: TypeAlias = Literal["ok", "unsupported", "finding", "unjudged"]
"""That of a path; ``unjudged``: nothing was compared, or that torch lacks the path."""


@dataclass(frozen=True)
class JudgeProgram:
    """Judge a program there along some paths."""

    source: str
    paths: tuple[str, ...]
    fixes: tuple[str, ...] = ()
    """The names of the fixes to put in place there; empty: plain torch."""
    corpora: str = ""
    """The corpus with these fixes."""


@dataclass(frozen=True)
class WriteRepro:
    """Judge a program there along one path, and write down the finding with a signature as a repro file."""

    source: str
    path: str
    signature: tuple[str, ...]


@dataclass(frozen=True)
class RunFile:
    """Run the text of a file as a script there, in a fresh process."""

    text: str
    seconds: float
    fixes: tuple[str, ...] = ()
    corpora: str = ""


@dataclass(frozen=True)
class PathAnswer:
    """What a program shows along one path."""

    path: str
    status: OtherStatus
    reason: str = ""
    """Why it is not ok, in a few words."""
    signatures: tuple[tuple[str, ...], ...] = ()
    """Of its findings."""


@dataclass(frozen=True)
class ProgramAnswer:
    """The answer to JudgeProgram."""

    valid: bool
    reason: str
    """Why it is not valid."""
    paths: tuple[PathAnswer, ...] = ()

    def on(self, path: str) -> PathAnswer:
        """Return what the program shows along a path."""
        if not self.valid:
            return PathAnswer(path, "unjudged", self.reason)
        found = (shown for shown in self.paths if shown.path == path)
        return next(found, PathAnswer(path, "unjudged", "nothing was compared"))


@dataclass(frozen=True)
class ReproAnswer:
    """The answer to WriteRepro; an empty text: the program does not show that finding."""

    text: str
    fingerprint: str = ""


@dataclass(frozen=True)
class FileAnswer:
    """The answer to RunFile."""

    code: int | None
    """The exit code, negative for a signal; None: the time limit was reached."""
    line: str
    """Its last line: what it found, or the exception that it raised."""


@dataclass(frozen=True)
class ErrorAnswer:
    """exportdiff's own code raised an exception there, or the process ended."""

    error: str


Question: TypeAlias = JudgeProgram | WriteRepro | RunFile
Answer: TypeAlias = ProgramAnswer | ReproAnswer | FileAnswer | ErrorAnswer


def encoded(number: int, message: Question | Answer) -> str:
    """Return the line for a message; an answer has the number of its question."""
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

"""What a campaign has done so far, in a file: from it, a campaign that was killed goes on where it was.

The first line holds the settings and what the results depend on; every further line is one result of a
program, or one answer of a fresh process or of the minimizer. Whoever goes on reads the results in the order
in which they came and accounts for each as the first time, so nothing depends on where the campaign was
killed. A line that was not written to its end counts as not written.
"""

from __future__ import annotations

import hashlib
import pathlib
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from harness.engine.settings import Settings
from harness.engine.worker import ExampleResult
from harness.errors import UsageError
from harness.known.entry import FIXES, find_files
from harness.plain_data import NotPlainError, dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

T = TypeVar("T")


@dataclass(frozen=True)
class Surroundings:
    """What the results of a campaign depend on, beside its settings."""

    torch: str
    python: str
    exportdiff: str
    """The version, and a digest of the code."""
    corpus: str
    """A digest of the corpus; empty: there is none."""


@dataclass(frozen=True)
class Begun:
    """The first line."""

    settings: Settings
    surroundings: Surroundings


@dataclass(frozen=True)
class Done:
    """One program has its result."""

    at: float
    """Seconds since the campaign started."""
    result: ExampleResult


@dataclass(frozen=True)
class Answered:
    """A question that takes a fresh process, and its answer."""

    question: str
    answer: Any


class Journal:
    """The journal of one campaign. Leaving the ``with`` block closes the file."""

    def __init__(self, file: pathlib.Path, begun: Begun, stream: TextIO) -> None:
        """Use ``begin`` or ``read``."""
        self._file = file
        self._stream = stream
        self._answers: dict[str, Any] = {}
        self.begun = begun

    @classmethod
    def begin(cls, file: pathlib.Path, settings: Settings) -> Journal:
        """Begin the journal of a new campaign; empty the file."""
        begun = Begun(settings, surroundings(settings.corpora))
        journal = cls(file, begun, file.open("w", encoding="utf-8"))
        journal._write(begun)
        return journal

    @classmethod
    def write(cls, file: pathlib.Path, begun: Begun, lines: Iterable[Done | Answered]) -> Journal:
        """Write a journal with these lines, and open it."""
        journal = cls(file, begun, file.open("w", encoding="utf-8"))
        for line in (begun, *lines):
            journal._write(line)
        return journal

    @classmethod
    def read(cls, file: pathlib.Path) -> Journal:
        """Open the journal of a campaign that is to go on.

        Raises UsageError, with the file as it was, if it is damaged, or if torch, exportdiff, Python or the
        corpus are not those that the campaign began with.
        """
        try:
            lines = _complete_lines(file)
        except OSError as error:
            raise UsageError(f"--resume {file.parent}: {file.name}: {error.strerror}") from None
        first = _read(file, 1, next(lines, ""))
        if not isinstance(first, Begun):
            raise UsageError(
                f"--resume {file.parent}: line 1 of {file.name} is damaged; begin a new campaign"
            )
        _check(file.parent, first)
        size = 0
        for number, line in enumerate(_complete_lines(file), 1):
            if not isinstance(_read(file, number, line), Begun if number == 1 else Done | Answered):
                raise UsageError(f"--resume {file.parent}: line {number} of {file.name} is damaged")
            size += len(line.encode())
        stream = file.open("r+", encoding="utf-8")
        stream.seek(size)
        stream.truncate()
        return cls(file, first, stream)

    def __enter__(self) -> Journal:
        """Do nothing: the file is open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._stream.close()

    def lines(self) -> Iterator[Done | Answered]:
        """Yield what the journal holds so far, but for its first line."""
        for number, line in enumerate(_complete_lines(self._file), 1):
            if number > 1:
                yield _read(self._file, number, line)

    def done(self) -> Iterator[Done]:
        """Yield the results of the campaign so far, in their order; learn the answers between them first."""
        for each in self.lines():
            if isinstance(each, Answered):
                self._answers[each.question] = each.answer
        yield from (each for each in self.lines() if isinstance(each, Done))

    def add(self, at: float, result: ExampleResult) -> None:
        """Note a result, before anybody accounts for it."""
        self._write(Done(at, result))

    def remembered(self, kind: str, function: Callable[..., T]) -> Callable[..., T]:
        """Return the same function; what it has answered to the same text it is not asked again.

        Its first argument is the text of a program, on which the answer depends. Answers that are exceptions
        are not kept.
        """

        def ask(text: str, *args: Any, **named: Any) -> T:
            question = f"{kind} {hashlib.sha256(text.encode()).hexdigest()}"
            if question not in self._answers:
                self._answers[question] = function(text, *args, **named)
                self._write(Answered(question, self._answers[question]))
            answer: T = self._answers[question]
            return answer

        return ask

    def _write(self, line: Begun | Done | Answered) -> None:
        self._stream.write(dumps(line) + "\n")
        self._stream.flush()


def surroundings(corpora: pathlib.Path | None) -> Surroundings:
    """Return what the results depend on here and now."""
    own = pathlib.Path(__file__).parents[2]
    code = [file for name in ("harness", "strategies") for file in sorted((own / name).rglob("*.py"))]
    known = [] if corpora is None else [*find_files([corpora]), *sorted((corpora / FIXES).glob("*.patch"))]
    return Surroundings(
        version("torch"),
        platform.python_version(),
        f"{version('exportdiff')} {_digest(code)}",
        _digest(known) if known else "",
    )


def _digest(files: list[pathlib.Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:12]


def _check(folder: pathlib.Path, begun: Begun) -> None:
    """Raise UsageError if something is not as it was."""
    corpora = begun.settings.corpora
    if corpora is not None and not corpora.is_dir():
        raise UsageError(f"--resume {folder}: its corpus {corpora} is gone")
    now, then = surroundings(corpora), begun.surroundings
    for name, what in (
        ("torch", "torch"),
        ("python", "Python"),
        ("exportdiff", "exportdiff"),
        ("corpus", "the corpus"),
    ):
        before, here = getattr(then, name), getattr(now, name)
        if before != here:
            raise UsageError(
                f"--resume {folder}: it was begun with {what} {before}, and here is {here}; "
                "go on with that one, or begin a new campaign in another folder"
            )


def _complete_lines(file: pathlib.Path) -> Iterator[str]:
    """Yield the lines of a file; the last one only if it was written to its end."""
    stream = file.open(encoding="utf-8", errors="replace", newline="\n")

    def lines() -> Iterator[str]:
        with stream:
            yield from (line for line in stream if line.endswith("\n"))

    return lines()


def _read(file: pathlib.Path, number: int, line: str) -> Any:
    try:
        return loads(line)
    except NotPlainError:
        raise UsageError(
            f"--resume {file.parent}: line {number} of {file.name} is damaged; "
            "delete it and the lines below it to lose only these results"
        ) from None

"""What a campaign has done so far, in a file: a campaign that was killed continues from it.

The first line has the settings and what the results depend on. Each further line is the result of one
program, or one answer of a fresh process or of a search. Minimizing is not recorded: it starts again. A
campaign that continues reads the results in the same order and treats each like a new one, so it does not
matter where it was killed. A line without an end is ignored.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from exportdiff.core.errors import UsageError
from exportdiff.core.plain_data import dumps, loads
from exportdiff.fuzzing.campaign.campaign_inputs import CampaignInputs, campaign_inputs, difference
from exportdiff.fuzzing.campaign.settings import CampaignSettings
from exportdiff.fuzzing.campaign.worker import ExampleResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")


@dataclass(frozen=True)
class Begun:
    """The first line of the file."""

    settings: CampaignSettings
    inputs: CampaignInputs
    began: str = ""
    """When: ISO 8601, in UTC."""


@dataclass(frozen=True)
class Done:
    """The result of one program."""

    at: float
    """Seconds since the campaign started."""
    result: ExampleResult


@dataclass(frozen=True)
class Answered:
    """A question that a fresh process answered, and the answer."""

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
    def begin(cls, file: pathlib.Path, settings: CampaignSettings) -> Journal:
        """Begin the journal of a new campaign; empty the file."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls.write(file, Begun(settings, campaign_inputs(settings.corpora), now), ())

    @classmethod
    def write(cls, file: pathlib.Path, begun: Begun, lines: Iterable[Done | Answered]) -> Journal:
        """Write a journal with these lines, and open it."""
        journal = cls(file, begun, file.open("w", encoding="utf-8"))
        for line in (begun, *lines):
            journal._write(line)
        return journal

    @classmethod
    def read(cls, file: pathlib.Path) -> Journal:
        """Open the journal of a campaign to continue; remove a line without an end.

        Raises UsageError as ``checked`` does, and then does not change the file.
        """
        begun, size = checked(file)
        os.truncate(file, size)
        return cls(file, begun, file.open("a", encoding="utf-8"))

    def __enter__(self) -> Journal:
        """Return the journal, whose file is open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._stream.close()

    def done(self) -> Iterator[Done]:
        """Yield the results so far, in their order; read all answers first."""
        for each in entries(self._file):
            if isinstance(each, Answered):
                self._answers[each.question] = each.answer
        yield from (each for each in entries(self._file) if isinstance(each, Done))

    def add(self, at: float, result: ExampleResult) -> None:
        """Record a result."""
        self._write(Done(at, result))

    def remembered(self, kind: str, function: Callable[..., T]) -> Callable[..., T]:
        """Return the function with a cache: it runs once for each text.

        Its first argument is the text of a program, on which the answer depends. Exceptions are not recorded.
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


def checked(file: pathlib.Path) -> tuple[Begun, int]:
    """Return the first line of a journal, and the bytes of all lines that have an end. Writes nothing.

    Raises UsageError if the file is damaged, or if torch, exportdiff, Python or the corpus have changed since
    the campaign began.
    """
    begun: Begun | None = None
    size = 0
    for number, line in enumerate(_complete_lines(file), 1):
        each = _read(file, number, line)
        if begun is None:
            if not isinstance(each, Begun):
                raise _damaged(file, number)
            _check(file.parent, each)
            begun = each
        elif not isinstance(each, Done | Answered):
            raise _damaged(file, number)
        size += len(line)
    if begun is None:
        raise _damaged(file, 1)
    return begun, size


def entries(file: pathlib.Path) -> Iterator[Done | Answered]:
    """Yield the lines of a journal after the first one. Raises UsageError for a damaged line."""
    for number, line in enumerate(_complete_lines(file), 1):
        if number > 1:
            yield _read(file, number, line)


def _check(folder: pathlib.Path, begun: Begun) -> None:
    """Raise UsageError if an input has changed."""
    corpora = begun.settings.corpora
    if corpora is not None and not corpora.is_dir():
        raise UsageError(f"{folder}: its corpus {corpora} is gone")
    found = difference(begun.inputs, campaign_inputs(corpora))
    if found:
        what, before, here = found
        raise UsageError(
            f"{folder}: it was begun with {what} {before}, and here is {here}; "
            "go on with that one, or begin a new campaign in another folder"
        )


def _complete_lines(file: pathlib.Path) -> Iterator[bytes]:
    """Yield the lines of a file that have an end."""
    try:
        with file.open("rb") as stream:
            yield from (line for line in stream if line.endswith(b"\n"))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; name the folder of a campaign") from None


def _read(file: pathlib.Path, number: int, line: bytes) -> Any:
    try:
        return loads(line.decode())
    except ValueError:  # no text, or no plain data
        raise _damaged(file, number) from None


def _damaged(file: pathlib.Path, number: int) -> UsageError:
    advice = (
        "delete it and the lines below it to lose only these results"
        if number > 1
        else "begin a new campaign"
    )
    return UsageError(f"{file.parent}: line {number} of {file.name} is damaged; {advice}")

"""A candidate fix: a patch file that ``git apply`` takes in a checkout of PyTorch, read as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as PatchHunk
from unidiff.patch import PatchSet

from harness.errors import UsageError

if TYPE_CHECKING:
    import pathlib


class FixError(UsageError):
    """A fix cannot be put in place; says which, and why."""


@dataclass(frozen=True)
class Edit:
    """Lines of a file, from ``start`` up to ``stop`` (from 0), that are to be others."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Hunk:
    """One place of a patch."""

    start: int
    """The first line (from 0) in the file that the patch was made for."""
    source: tuple[str, ...]
    """What must be there, context included."""
    edits: tuple[Edit, ...]
    """Relative to the hunk's first line."""


@dataclass(frozen=True)
class Refused:
    """An exception that a fix raises on purpose, with a message for the model's author."""

    type: str
    """Name of the exception class: ``UserError``."""
    text: str
    """What the message contains."""


@dataclass(frozen=True)
class Fix:
    """One patch file."""

    name: str
    message: str
    """What is at fault and why, and what the patch does about it."""
    fits: tuple[str, ...]
    """The versions of torch that it was tried with: the patch's ``Fits:`` line."""
    files: tuple[tuple[str, tuple[Hunk, ...]], ...]
    """By path in PyTorch's repository: ``torch/export/unflatten.py``."""
    diff: str
    """The patch, as it is in the file."""
    refuses: tuple[Refused, ...] = ()
    """What the patched torch raises where it cannot do what eager does: the patch's ``Refuses:`` lines."""


def read_fixes(folder: pathlib.Path) -> dict[str, Fix]:
    """Return all fixes of a folder by name; empty if there is none. Raises FixError."""
    return {file.stem: read_fix(file) for file in sorted(folder.glob("*.patch"))}


def read_fix(file: pathlib.Path) -> Fix:
    """Read a patch file. Raises FixError."""
    try:
        text = file.read_text(encoding="utf-8")
        patches = PatchSet(text)
    except (OSError, UnicodeDecodeError, UnidiffParseError) as error:
        raise FixError(f"{file}: cannot be read as a patch: {error}") from None
    files = []
    for patch in patches:
        if not patch.is_modified_file or not patch.path.endswith(".py"):
            raise FixError(f"{file}: {patch.path}: a fix changes existing Python files only")
        files.append((patch.path, tuple(map(_hunk, patch))))
    if not files:
        raise FixError(f"{file}: holds no patch")
    message, _, diff = text.partition("\n---\n")
    versions = tuple(version.strip() for line in _fields(message, "Fits") for version in line.split(","))
    refuses = tuple(_refused(file, line) for line in _fields(message, "Refuses"))
    return Fix(file.stem, message.strip(), versions, tuple(files), diff, refuses)


def _fields(message: str, name: str) -> list[str]:
    """Return the values of the lines ``NAME: value`` of a patch's message."""
    start = f"{name}:"
    return [line.removeprefix(start).strip() for line in message.splitlines() if line.startswith(start)]


def _refused(file: pathlib.Path, line: str) -> Refused:
    name, colon, text = line.partition(": ")
    if not colon or not name.isidentifier() or not text:
        raise FixError(f"{file}: write 'Refuses: EXCEPTION: text of its message', not 'Refuses: {line}'")
    return Refused(name, text)


def _hunk(hunk: PatchHunk) -> Hunk:
    source: list[str] = []
    edits: list[Edit] = []
    first = hunk.source_start - 1
    for line in hunk:
        text = line.value.rstrip("\n")
        at = len(source)
        if line.is_added:
            if edits and edits[-1].stop == at:
                edits[-1] = Edit(edits[-1].start, at, (*edits[-1].lines, text))
            else:
                edits.append(Edit(at, at, (text,)))
            continue
        source.append(text)
        if line.is_removed:
            if edits and edits[-1].stop == at:
                edits[-1] = Edit(edits[-1].start, at + 1, edits[-1].lines)
            else:
                edits.append(Edit(at, at + 1, ()))
    return Hunk(first, tuple(source), tuple(edits))

"""Reads candidate fixes: patch files that ``git apply`` accepts in a checkout of PyTorch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk as PatchHunk
from unidiff.patch import PatchSet

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable


FixKind: TypeAlias = Literal["mend", "refuse", "workaround"]
"""``mend``: the path is right with it. ``refuse``: torch says in words that it cannot do this.
``workaround``: neither."""

_VERSION = re.compile(r"\d+(\.\d+)*")


class FixError(UsageError):
    """A fix cannot be installed; the message names the fix and the reason."""


class FixNotHereError(FixError):
    """A fix cannot be installed in this process; in another process with the same torch, it may be."""


@dataclass(frozen=True)
class Edit:
    """Replaces the lines of a file from ``start`` up to, not including, ``stop`` (counted from 0)."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Hunk:
    """One hunk of a patch."""

    start: int
    """The hunk's first line (counted from 0) in the file that the patch was made for."""
    source: tuple[str, ...]
    """The lines that the file must contain, including context."""
    edits: tuple[Edit, ...]
    """The edits, with line numbers relative to the hunk's first line."""
    within: str = ""
    """The header of the function or class that the patch names for the hunk: what follows ``@@``."""

    def after(self, start: int, stop: int, edits: Iterable[Edit]) -> tuple[str, ...]:
        """Return what some of the edits make of the lines from ``start`` up to ``stop`` of ``source``."""
        lines: list[str] = []
        for edit in edits:
            lines += [*self.source[start : edit.start], *edit.lines]
            start = edit.stop
        return (*lines, *self.source[start:stop])


@dataclass(frozen=True)
class Refused:
    """An exception that a fix raises on purpose, with a message for the author of the model."""

    type: str
    """The name of the exception class: ``UserError``."""
    text: str
    """Text that the message contains."""


@dataclass(frozen=True)
class Fix:
    """One patch file."""

    name: str
    message: str
    """Which function of torch is wrong and why, and what the patch changes."""
    fits: tuple[str, ...]
    """The patch's ``Fits:`` line: releases of torch on which its author tried it. On these it is usable
    without a trial, because the tests of the corpus are the trial."""
    files: tuple[tuple[str, tuple[Hunk, ...]], ...]
    """The hunks of each file, with its path in PyTorch's repository: ``torch/export/unflatten.py``."""
    diff: str
    """The text of the patch without the message."""
    refuses: tuple[Refused, ...] = ()
    """What the patched torch raises for models that it refuses: the patch's ``Refuses:`` lines."""
    kind: FixKind = "mend"
    """The patch's ``Kind:`` line."""
    objection: str = ""
    """What a reviewer of PyTorch would say against the patch: its ``Objection:`` line; empty if nothing."""
    version: str = ""
    """``2.14`` of NAME@2.14.patch, which is for the torch of that version; empty: NAME.patch."""

    @property
    def patch(self) -> str:
        """The name of the patch file."""
        return f"{self.name}@{self.version}.patch" if self.version else f"{self.name}.patch"


def read_candidates(folder: pathlib.Path) -> dict[str, tuple[Fix, ...]]:
    """Return all patches of a folder by the name of their fix; an empty dict if there are none.

    Raises FixError.
    """
    found: dict[str, list[Fix]] = {}
    for file in sorted(folder.glob("*.patch")):
        fix = read_fix(file)
        found.setdefault(fix.name, []).append(fix)
    return {name: tuple(found[name]) for name in sorted(found)}


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
        raise FixError(f"{file}: contains no patch")
    message, _, diff = text.partition("\n---\n")
    versions = tuple(version.strip() for line in _fields(message, "Fits") for version in line.split(","))
    refuses = tuple(_refused(file, line) for line in _fields(message, "Refuses"))
    name, at, version = file.stem.partition("@")
    if at and not _VERSION.fullmatch(version):
        raise FixError(f"{file}: name it {name}@2.14.patch, with the version of torch that it is for")
    objection = " ".join(_fields(message, "Objection"))
    kind = _kind(file, message)
    return Fix(name, message.strip(), versions, tuple(files), diff, refuses, kind, objection, version)


def _fields(message: str, name: str) -> list[str]:
    """Return the values of the lines ``NAME: value`` in a patch's message."""
    start = f"{name}:"
    return [line.removeprefix(start).strip() for line in message.splitlines() if line.startswith(start)]


def _kind(file: pathlib.Path, message: str) -> FixKind:
    kinds = _fields(message, "Kind") or ["mend"]
    if len(kinds) > 1 or kinds[0] not in get_args(FixKind):
        raise FixError(f"{file}: write 'Kind: ' and one of {', '.join(get_args(FixKind))} into its message")
    return cast("FixKind", kinds[0])


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
    return Hunk(first, tuple(source), tuple(edits), (hunk.section_header or "").strip())

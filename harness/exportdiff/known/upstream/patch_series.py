"""Writes the fixes of a corpus as a series of commits for PyTorch: one for each root cause, with a test.

Each commit builds on the commits before it: in this order, they apply to the sources of the pinned release.
They are mails in the format of ``git format-patch``, which ``git am`` reads.
"""

from __future__ import annotations

import difflib
import pathlib
import re
import textwrap
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.upstream.plain_program import PlainProgram, plain_program, run_program
from exportdiff.known.upstream.pytorch_test import ExpectedRefusal, file_of_test, mode_of
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.patching.placing import chunks_of
from exportdiff.runtime.patching.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.known.corpus.ranking import RootCause
    from exportdiff.known.upstream.plain_program import ProgramResult
    from exportdiff.runtime.patching.fix import Fix

_FIELDS = re.compile(r"^(Fits|Kind|Refuses):.*\n?", re.MULTILINE)
"""Lines of a patch's message that are for exportdiff."""

_AREAS = {"pipeline": "pipelining", "compile": "dynamo"}
"""The name of a mode's area in the titles of PyTorch's commits; for all other modes it is ``export``."""


@dataclass(frozen=True)
class Commit:
    """The commit that mends one root cause."""

    name: str
    """The name of the entry."""
    title: str
    message: str
    """Without the title."""
    files: Mapping[str, tuple[str, str]]
    """The text of each file before and after the commit, by path; a new file was empty before."""
    test: str
    """The path of its test, which is one of the files."""


@dataclass(frozen=True)
class LeftOut:
    """A root cause that has no commit."""

    name: str
    reason: str


@dataclass(frozen=True)
class MendedCause:
    """A root cause whose program shows the bug on plain torch, and no longer shows it with its fixes."""

    cause: RootCause
    fixes: tuple[Fix, ...]
    program: PlainProgram
    refusal: ExpectedRefusal | None
    """Set if torch refuses the program with the fixes."""


def try_to_mend(cause: RootCause, fixes: Mapping[str, Fix]) -> MendedCause | LeftOut:
    """Run the program of a root cause on plain torch and with its fixes."""
    entry = cause.entry
    own = tuple(fixes[name] for name in cause.fixes if name in fixes)
    if entry.fix not in fixes:
        return LeftOut(entry.name, "its fix does not fit this torch" if entry.fix else "has no fix")
    try:
        program = plain_program(entry)
    except UsageError as error:
        return LeftOut(entry.name, str(error))
    plain = run_program(program)
    if plain.right or not (plain.error or plain.values):
        return LeftOut(entry.name, "its program does not show the bug on this torch")
    mended = run_program(program, partial(applied, own))
    if not mended.right and not _refuses(mended, own):
        shown = mended.message or ", ".join(mended.values)
        return LeftOut(entry.name, f"its program still shows the bug with its fixes: {shown}")
    refusal = ExpectedRefusal(mended.error, mended.message, mended.line) if mended.error else None
    return MendedCause(cause, own, program, refusal)


def commit_of(mended: MendedCause, before: Sequence[Fix]) -> Commit:
    """Make the commit of a root cause, on top of the commits of the fixes ``before``.

    Raises FixError if the fixes do not fit this torch together.
    """
    entry, own = mended.cause.entry, mended.fixes
    test, text = file_of_test(entry, mended.program, mended.refusal)
    files = {
        path: (patched(path, _changing(path, before)), patched(path, _changing(path, (*before, *own))))
        for path in sorted({path for fix in own for path, _ in fix.files})
    }
    title = f"[{_AREAS.get(mode_of(entry), 'export')}] {_title(own[0])}"
    return Commit(entry.name, title, _message(mended.cause, own), {**files, test: ("", text)}, test)


def patched(path: str, fixes: Sequence[Fix]) -> str:
    """Return the text of an installed file of torch after some fixes. Raises FixError."""
    file = str(installed(path))
    lines = list(source_of(file).lines)
    edits = [edit for chunk in chunks_of(path, file, fixes) for edit in chunk.edits]
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop), reverse=True):
        lines[edit.start : edit.stop] = edit.lines
    return "\n".join(lines) + "\n"


def installed(path: str) -> pathlib.Path:
    """Return the installed file of ``torch/...``."""
    import torch

    return pathlib.Path(str(torch.__file__)).parents[1] / path


def mail(commit: Commit, number: int, count: int, author: str, date: str) -> bytes:
    """Return a commit in the format of ``git format-patch``."""
    message = EmailMessage(policy=SMTP.clone(linesep="\n", cte_type="8bit"))
    message["From"] = author
    message["Date"] = date
    message["Subject"] = f"[PATCH {number}/{count}] {commit.title}"
    body = f"{commit.message}\n---\n{_stat(commit)}\n\n{diff(commit)}-- \nexportdiff\n"
    message.set_content(body, cte="8bit")
    # git recognizes the format by this line; the number of the commit does not matter.
    return f"From {number:040x} Mon Sep 17 00:00:00 2001\n".encode() + message.as_bytes()


def diff(commit: Commit) -> str:
    """Return the changes of a commit in the format of ``git apply``."""
    parts = []
    for path, (before, after) in commit.files.items():
        parts.append(f"diff --git a/{path} b/{path}\n")
        old = f"a/{path}" if before else "/dev/null"
        if not before:
            parts.append("new file mode 100644\n")
        parts += difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), old, f"b/{path}"
        )
    return "".join(parts)


def _changing(path: str, fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    return tuple(fix for fix in fixes if path in dict(fix.files))


def _refuses(outcome: ProgramResult, fixes: Iterable[Fix]) -> bool:
    """Whether a program raises what one of its fixes declares, or anything if a fix is of kind "refuse"."""
    declared = any(refused.text in outcome.message for fix in fixes for refused in fix.refuses)
    return bool(outcome.error) and (declared or any(fix.kind == "refuse" for fix in fixes))


def _title(fix: Fix) -> str:
    return fix.message.partition("\n")[0]


def _message(cause: RootCause, fixes: Sequence[Fix]) -> str:
    """Return the text below the title: the bug, its cause, and the message of each fix."""
    parts = [textwrap.fill(each, 75) for each in (f"{cause.entry.title}.", cause.entry.cause)]
    for fix in fixes:
        rest = _FIELDS.sub("", fix.message).strip().partition("\n")[2].strip()
        note = " (This is a workaround.)" if fix.kind == "workaround" else ""
        parts.append(rest + note if len(fixes) == 1 else f"{_title(fix)}:{note}\n\n{rest}")
    return "\n\n".join(parts)


def _stat(commit: Commit) -> str:
    return "\n".join(f" {path} | {_changed(*texts)}" for path, texts in commit.files.items())


def _changed(before: str, after: str) -> int:
    lines = difflib.ndiff(before.splitlines(), after.splitlines()) if before else after.splitlines()
    return sum(1 for line in lines if not before or line[:2] in ("+ ", "- "))

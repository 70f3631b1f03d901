"""The fixes of a corpus as a series of commits for PyTorch: one for each root cause, each with a test.

A commit changes what the commits before it have left, so all of them apply one after the other to the sources
of the pinned release. ``git am`` takes the mails; their format is that of ``git format-patch``.
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
from exportdiff.known.upstream.demonstration import Demonstration, demonstration
from exportdiff.known.upstream.plain_program import run_program
from exportdiff.known.upstream.pytorch_test import Refusal, file_of_test, mode_of
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.patching.placing import chunks_of
from exportdiff.runtime.patching.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.known.corpus.ranking import RootCause
    from exportdiff.known.upstream.plain_program import Shown
    from exportdiff.runtime.patching.fix import Fix

_FIELDS = re.compile(r"^(Fits|Kind|Refuses):.*\n?", re.MULTILINE)
"""Lines of a patch's message that are for exportdiff."""


_AREAS = {"pipeline": "pipelining", "compile": "dynamo"}
"""How PyTorch's commits call the part that a mode is of; all others are of ``export``."""


@dataclass(frozen=True)
class Commit:
    """One root cause, mended."""

    name: str
    """That of its entry."""
    title: str
    message: str
    """Without the title."""
    files: Mapping[str, tuple[str, str]]
    """What each file was before, and is afterwards, by path in PyTorch's repository; a new file was empty."""
    test: str
    """The path of its test, which is among the files."""


@dataclass(frozen=True)
class LeftOut:
    """A root cause that has no commit."""

    name: str
    reason: str


@dataclass(frozen=True)
class Tried:
    """A root cause whose program shows the bug, and does so no longer with its fixes."""

    cause: RootCause
    fixes: tuple[Fix, ...]
    demonstration: Demonstration
    refusal: Refusal | None
    """What the program ends in with the fixes, where it cannot be right."""


def tried(cause: RootCause, fixes: Mapping[str, Fix]) -> Tried | LeftOut:
    """Run the program of a root cause without its fixes and with them.

    Without them it must show the bug; with them it shows whether torch is right then, or refuses.
    """
    entry = cause.entry
    own = tuple(fixes[name] for name in cause.fixes if name in fixes)
    if entry.fix not in fixes:
        return LeftOut(entry.name, "its fix does not fit this torch" if entry.fix else "has no fix")
    try:
        demo = demonstration(entry)
    except UsageError as error:
        return LeftOut(entry.name, str(error))
    plain = run_program(demo)
    if plain.right or not (plain.error or plain.values):
        return LeftOut(entry.name, "its program does not show the bug on this torch")
    mended = run_program(demo, partial(applied, own))
    if not mended.right and not _refuses(mended, own):
        shown = mended.message or ", ".join(mended.values)
        return LeftOut(entry.name, f"its program still shows the bug with its fixes: {shown}")
    refusal = Refusal(mended.error, mended.message, mended.step) if mended.error else None
    return Tried(cause, own, demo, refusal)


def commit_of(one: Tried, before: Sequence[Fix]) -> Commit:
    """Make the commit of a root cause that comes after those of other fixes.

    Raises FixError if the fixes do not fit this torch together.
    """
    entry, own = one.cause.entry, one.fixes
    test, text = file_of_test(entry, one.demonstration, one.refusal)
    files = {
        path: (patched(path, _changing(path, before)), patched(path, _changing(path, (*before, *own))))
        for path in sorted({path for fix in own for path, _ in fix.files})
    }
    title = f"[{_AREAS.get(mode_of(entry), 'export')}] {_title(own[0])}"
    return Commit(entry.name, title, _message(one.cause, own), {**files, test: ("", text)}, test)


def patched(path: str, fixes: Sequence[Fix]) -> str:
    """Return the text of an installed file of torch as some fixes leave it. Raises FixError."""
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
    # The line that git tells a mail in its format by; the number of the commit may be any.
    return f"From {number:040x} Mon Sep 17 00:00:00 2001\n".encode() + message.as_bytes()


def diff(commit: Commit) -> str:
    """Return the change of a commit as ``git apply`` takes it."""
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


def _refuses(shown: Shown, fixes: Iterable[Fix]) -> bool:
    """Whether the program ends in a refusal: declared by a fix, or what a fix of that kind is for."""
    declared = any(refused.text in shown.message for fix in fixes for refused in fix.refuses)
    return bool(shown.error) and (declared or any(fix.kind == "refuse" for fix in fixes))


def _title(fix: Fix) -> str:
    return fix.message.partition("\n")[0]


def _message(cause: RootCause, fixes: Sequence[Fix]) -> str:
    """Return the text of a commit below its title: what is wrong, why, then what each fix says."""
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

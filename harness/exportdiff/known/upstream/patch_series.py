"""Makes commits for PyTorch from the fixes of a corpus: one for each root cause, with a test.

Each commit stands alone. Those of the first tier can be proposed as they are; for the others there is a
reason why not.
"""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.upstream.commit import Commit, message_of, title_of
from exportdiff.known.upstream.plain_program import PlainProgram, plain_program, run_program, with_load
from exportdiff.known.upstream.pytorch_test import (
    ClassOfTests,
    ExpectedRefusal,
    class_for,
    method,
    new_file,
    with_method,
)
from exportdiff.known.upstream.style import formatted_changes
from exportdiff.runtime.patching.fix import FixError
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.patching.placing import chunks_of
from exportdiff.runtime.patching.source import source_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.upstream.plain_program import ProgramResult
    from exportdiff.runtime.patching.fix import Fix

SMALL = 60
"""The greatest number of lines of torch that a commit of the first tier adds or removes."""


@dataclass(frozen=True)
class LeftOut:
    """A root cause that has no commit."""

    entry: Entry
    reason: str
    program: PlainProgram | None = None
    """Its program, if it shows the bug on this torch."""


@dataclass(frozen=True)
class MendedCause:
    """A root cause whose program shows the bug on plain torch, and no longer shows it with its fix."""

    entry: Entry
    fix: Fix
    program: PlainProgram
    refusal: ExpectedRefusal | None
    """Set if torch refuses the program with the fix."""


def try_to_mend(entry: Entry, fixes: Mapping[str, Fix]) -> MendedCause | LeftOut:
    """Run the program of a root cause on plain torch and with its fix."""
    try:
        program = with_load(plain_program(entry))
    except UsageError as error:
        return LeftOut(entry, str(error))
    plain = run_program(program)
    if plain.right or not (plain.error or plain.values):
        return LeftOut(entry, "its program does not show the bug on this torch")
    if entry.fix not in fixes:
        reason = "its fix does not fit this torch" if entry.fix else "it has no fix"
        return LeftOut(entry, reason, program)
    fix = fixes[entry.fix]
    mended = run_program(program, partial(applied, (fix,)))
    if not mended.right and not _refuses(mended, fix):
        shown = mended.message or ", ".join(mended.values)
        return LeftOut(entry, f"its program still shows the bug with its fix: {shown}", program)
    refusal = ExpectedRefusal(mended.error, mended.message, mended.line) if mended.error else None
    return MendedCause(entry, fix, program, refusal)


@dataclass(frozen=True)
class Series:
    """Makes commits for a checkout of PyTorch, or for the installed torch, which has no tests."""

    checkout: pathlib.Path | None
    taken: dict[str, set[int]] = field(default_factory=dict)
    """The lines of each test file below which there is a test of another commit."""

    def commit(self, mended: MendedCause) -> Commit:
        """Make the commit of a root cause. Raises FixError if the fix does not fit the files."""
        entry, fix = mended.entry, mended.fix
        files = {}
        for path, _ in fix.files:
            before = self._text(path)
            files[path] = before, formatted_changes(before, patched(self._file(path), path, (fix,)))
        path, texts = self._test(mended)
        return Commit(entry.name, title_of(fix), message_of(entry, fix), {**files, path: texts})

    def _test(self, mended: MendedCause) -> tuple[str, tuple[str, str]]:
        """Return the path of the test file, and its text before and after."""
        home = class_for(mended.entry)
        text = method(mended.fix.name, mended.program, mended.refusal)
        if self.checkout is None:
            path = f"{home.path.rpartition('/')[0]}/test_{mended.fix.name}.py"
            return path, ("", new_file(ClassOfTests(path, home.name, home.owner), [text]))
        before = self._text(home.path)
        after = with_method(before, home, text, self.taken.setdefault(home.path, set()))
        if after is None:
            raise FixError(f"{home.path} has no class {home.name} with a free line between two tests")
        return home.path, (before, after)

    def _file(self, path: str) -> pathlib.Path:
        return installed(path) if self.checkout is None else self.checkout / path

    def _text(self, path: str) -> str:
        try:
            return self._file(path).read_text(encoding="utf-8")
        except OSError:
            raise FixError(f"{self.checkout or 'torch'} has no file {path}") from None


def reasons_against(mended: MendedCause, commit: Commit) -> list[str]:
    """Return why a commit is not of the first tier; an empty list if it is."""
    entry, fix = mended.entry, mended.fix
    found = {
        f"its severity is {entry.severity}": entry.severity not in ("A", "B"),
        f'its fix is of kind "{fix.kind}"': fix.kind != "mend",
        "its fix refuses models": bool(fix.refuses or mended.refusal),
        f"a reviewer would object: {fix.objection}": bool(fix.objection),
        f"a maintainer has defended the behaviour: {entry.defended}": bool(entry.defended),
        f"a pull request is about it already: {entry.upstream_fix}": bool(entry.upstream_fix),
        f"it changes {commit.changed} lines of torch, more than {SMALL}": commit.changed > SMALL,
        f"too wide: {commit.too_wide[0].strip() if commit.too_wide else ''}": bool(commit.too_wide),
    }
    return [reason for reason, holds in found.items() if holds]


def patched(file: pathlib.Path, path: str, fixes: Sequence[Fix]) -> str:
    """Return the text of a file of torch, ``torch/...``, after some fixes. Raises FixError."""
    lines = list(source_of(str(file)).lines)
    edits = [edit for chunk in chunks_of(path, str(file), fixes) for edit in chunk.edits]
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop), reverse=True):
        lines[edit.start : edit.stop] = edit.lines
    return "\n".join(lines) + "\n"


def installed(path: str) -> pathlib.Path:
    """Return the installed file of ``torch/...``."""
    import torch

    return pathlib.Path(str(torch.__file__)).parents[1] / path


def _refuses(outcome: ProgramResult, fix: Fix) -> bool:
    """Whether a program raises what its fix declares, or anything if the fix is of kind "refuse"."""
    declared = any(refused.text in outcome.message for refused in fix.refuses)
    return bool(outcome.error) and (declared or fix.kind == "refuse")

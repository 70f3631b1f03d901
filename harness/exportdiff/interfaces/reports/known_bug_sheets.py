"""Prints known bugs for people who search: one block for each, of 80 columns."""

from __future__ import annotations

import pathlib
import textwrap
from typing import TYPE_CHECKING

from exportdiff.core.listing import listed
from exportdiff.interfaces.reports.known_bug_lines import thread
from exportdiff.interfaces.reports.text import TEXT_WIDTH, wrapped
from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import FIXES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.known.catalog import BugSheet
    from exportdiff.known.corpus.workaround import Workaround

FULL = 5
"""Of more bugs, only the titles are printed."""


def sheet_lines(sheets: Sequence[BugSheet]) -> Iterator[str]:
    """Yield what is known of a few bugs, or else a line for each."""
    if len(sheets) > FULL:
        yield from map(_title, sheets)
        yield ""
        yield f"{counted(len(sheets), 'known bug')}. Add words, or name an id, to see how each one shows."
        return
    for number, sheet in enumerate(sheets):
        yield from [""] * bool(number)
        yield from _sheet(sheet)


def _title(sheet: BugSheet) -> str:
    text = f"{sheet.entry.id}  {sheet.entry.severity}  {full_title(sheet)}"
    return textwrap.fill(text, TEXT_WIDTH, subsequent_indent=" " * 10)


def full_title(sheet: BugSheet) -> str:
    """Return the title, and whether the newest torch has the bug."""
    fixed = f" (fixed in {listed(sheet.entry.versions.fixed_in)})" if not sheet.open else ""
    return f"{sheet.entry.title}{fixed}"


def _sheet(sheet: BugSheet) -> Iterator[str]:
    entry, bug = sheet.entry, sheet.bug
    yield _title(sheet)
    yield wrapped(f"  harm: {entry.harm}; {entry.reach}: {entry.reach_because}")
    yield wrapped(f"  why: {bug.cause}")
    if versions := bug.versions.in_words:
        yield wrapped(f"  versions: {versions}")
    yield ""
    yield textwrap.indent(sheet.program, "    ")
    yield ""
    if bug.workaround is not None:
        first, *code = instead(bug.workaround).splitlines()
        yield wrapped(f"  {first}")
        yield from (f"  {line}" for line in code)
    yield from (wrapped(f"  {name}: {target}") for name, target in links(sheet))


def instead(workaround: Workaround) -> str:
    """Say what to write instead, or that nothing helps."""
    if workaround.code:
        return f"write instead: {workaround.text}"
    return f"no workaround: {workaround.advice}"


def links(sheet: BugSheet) -> Iterator[tuple[str, str | pathlib.Path]]:
    """Yield where to read more: the addresses of threads, and the files of the corpus."""
    entry = sheet.entry
    if entry.evidence:
        yield "seen in", ", ".join(entry.evidence)
    yield from thread(sheet.bug)
    if entry.upstream_fix:
        yield "fix in PyTorch", entry.upstream_fix
    if entry.fix:
        yield "candidate fix", entry.file.parents[1] / FIXES / f"{entry.fix}.patch"
    yield "file", entry.file

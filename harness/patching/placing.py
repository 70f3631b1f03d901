"""Where the edits of fixes fall in a source file of torch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.patching.fix import Edit, Fix, FixError, Hunk
from harness.patching.source import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Chunk:
    """Statements of a file that edits fall into, or the place between two where they add some.

    Fixes of different chunks know nothing of each other: a chunk is compiled once, whatever else is fixed.
    """

    start: int
    stop: int
    edits: tuple[Edit, ...]
    who: str
    """The fixes that these edits are from."""


def chunks_of(path: str, file: str, fixes: Iterable[Fix]) -> list[Chunk]:
    """Place the edits of all fixes in a file, and sort them by the statements that they change."""
    source = source_of(file)
    edits = _placed(path, source.lines, fixes)
    chunks: list[Chunk] = []
    for edit, fix in edits.items():
        inside = [s for s in source.statements if edit.start < s.stop and edit.stop > s.start]
        start = min([edit.start, *(s.start for s in inside)])
        stop = max([edit.stop, *(s.stop for s in inside)])
        if chunks and start < chunks[-1].stop:
            last = chunks.pop()
            who = last.who if fix.name in last.who.split(", ") else f"{last.who}, {fix.name}"
            chunks.append(Chunk(last.start, max(last.stop, stop), (*last.edits, edit), who))
        else:
            chunks.append(Chunk(start, stop, (edit,), fix.name))
    return chunks


def _placed(path: str, lines: tuple[str, ...], fixes: Iterable[Fix]) -> dict[Edit, Fix]:
    """Return the edits of all fixes as lines of the file, in order."""
    edits: dict[Edit, Fix] = {}
    for fix in fixes:
        for hunk in dict(fix.files)[path]:
            start = _place(lines, hunk)
            if start is None:
                raise FixError(f"{fix.name}: does not fit {path} of this torch at line {hunk.start + 1}")
            for edit in hunk.edits:
                edits[Edit(start + edit.start, start + edit.stop, edit.lines)] = fix
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.stop))
    for one, two in pairwise(ordered):
        if two.start < one.stop or two.start == one.start:
            raise FixError(f"{edits[one].name} and {edits[two].name} change the same line of {path}")
    return {edit: edits[edit] for edit in ordered}


def _place(lines: tuple[str, ...], hunk: Hunk) -> int | None:
    """Find where a hunk fits: where it says, or at the one other place."""
    size = len(hunk.source)
    if lines[hunk.start : hunk.start + size] == hunk.source:
        return hunk.start
    places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == hunk.source]
    return places[0] if len(places) == 1 else None

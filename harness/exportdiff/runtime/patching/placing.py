"""Finds the lines of torch's source files that the edits of fixes change."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.aligning import aligned
from exportdiff.runtime.patching.fix import Edit, Fix, FixError, Hunk
from exportdiff.runtime.patching.source import Source, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Chunk:
    """The top-level statements that some edits change, or the line between two statements for an addition.

    Chunks are independent of each other: a chunk is compiled once, whichever other fixes are applied.
    """

    start: int
    stop: int
    edits: tuple[Edit, ...]
    owners: tuple[str, ...]
    """The name of the fix of each edit."""

    @property
    def fix_names(self) -> str:
        """The names of the fixes with these edits, separated by commas."""
        return ", ".join(dict.fromkeys(self.owners))


def chunks_of(path: str, file: str, fixes: Iterable[Fix]) -> list[Chunk]:
    """Find the lines of every edit in a file, and group the edits by the statements that they change.

    Raises FixError if an edit does not fit, or two edits change the same line.
    """
    source = source_of(file)
    edits = _placed(path, source, fixes)
    chunks: list[Chunk] = []
    for edit, fix in edits.items():
        inside = [s for s in source.statements if edit.start < s.stop and edit.stop > s.start]
        start = min([edit.start, *(s.start for s in inside)])
        stop = max([edit.stop, *(s.stop for s in inside)])
        if chunks and start < chunks[-1].stop:
            last = chunks.pop()
            owners = (*last.owners, fix.name)
            chunks.append(Chunk(last.start, max(last.stop, stop), (*last.edits, edit), owners))
        else:
            chunks.append(Chunk(start, stop, (edit,), (fix.name,)))
    return chunks


def _placed(path: str, source: Source, fixes: Iterable[Fix]) -> dict[Edit, Fix]:
    """Return the edits of all fixes in order, with the line numbers of the installed file."""
    edits: dict[Edit, Fix] = {}
    anywhere: list[tuple[tuple[str, ...], Fix]] = []
    for fix in fixes:
        for hunk in dict(fix.files)[path]:
            found = edits_of(source.lines, hunk)
            if found is None and (added := added_at_top_level(hunk)):
                anywhere.append((added, fix))
            elif found is None:
                raise FixError(f"{fix.name}: does not fit {path} of this torch at line {hunk.start + 1}")
            edits |= dict.fromkeys(found or (), fix)
    edits |= _at_free_places(source, edits, anywhere)
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.stop))
    for one, two in pairwise(ordered):
        if two.start < one.stop or two.start == one.start:
            raise FixError(f"{edits[one].name} and {edits[two].name} change the same line of {path}")
    return {edit: edits[edit] for edit in ordered}


def edits_of(lines: tuple[str, ...], hunk: Hunk) -> tuple[Edit, ...] | None:
    """Return the edits of a hunk where it fits: by its lines, else by its statements."""
    start = _place(lines, hunk)
    if start is None:
        return aligned(lines, hunk)
    return tuple(Edit(start + edit.start, start + edit.stop, edit.lines) for edit in hunk.edits)


def _place(lines: tuple[str, ...], hunk: Hunk) -> int | None:
    """Return the hunk's line in the file: the line in the patch if it fits, else the only line that fits."""
    size = len(hunk.source)
    if lines[hunk.start : hunk.start + size] == hunk.source:
        return hunk.start
    places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == hunk.source]
    return places[0] if len(places) == 1 else None


def added_at_top_level(hunk: Hunk) -> tuple[str, ...]:
    """Return the imports and functions that a hunk adds to the module, if it does nothing else.

    They are compiled separately, so it does not matter where they stand.
    """
    if any(edit.stop > edit.start for edit in hunk.edits):
        return ()
    added = tuple(line for edit in hunk.edits for line in edit.lines)
    try:
        body = ast.parse("\n".join(added)).body
    except SyntaxError:
        return ()
    allowed = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    return added if all(isinstance(node, allowed) for node in body) else ()


def _at_free_places(
    source: Source, taken: Iterable[Edit], added: Iterable[tuple[tuple[str, ...], Fix]]
) -> dict[Edit, Fix]:
    """Put each of these additions before a top-level statement where nothing else is changed.

    If possible, below the imports: an annotation in the addition may use an imported name.
    """
    busy = [range(edit.start - 1, edit.stop + 1) for edit in taken]
    starts = sorted((each.start for each in source.statements), key=lambda at: at < source.first_definition)
    free = (at for at in starts if not any(at in lines for lines in busy))
    found: dict[Edit, Fix] = {}
    places: dict[tuple[str, ...], int] = {}
    for lines, fix in added:
        # Several fixes may add the same.
        at = places[lines] if lines in places else next(free, None)
        if at is None:
            raise FixError(f"{fix.name}: this torch has no free line for what it adds")
        places[lines] = at
        found[Edit(at, at, lines)] = fix
    return found

"""Finds where a hunk fits by its statements, if its lines are written in another way in this torch.

All statements of the hunk must follow each other in the file, with the same AST, and only once. The lines
around them do not matter.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fix import Edit, Hunk
from exportdiff.runtime.patching.statements import Logical, logical_lines, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def aligned(lines: tuple[str, ...], hunk: Hunk) -> tuple[Edit, ...] | None:
    """Return the edits of a hunk for a file with these lines; None if it fits nowhere, or more than once.

    An edit replaces whole logical lines, so that nothing is mixed with how this torch breaks them.
    """
    there = _of_file(lines)
    for fragment in readings(hunk.source):
        if not fragment:
            continue
        places = _places(there, fragment)
        if len(places) > 1 and (named := _NAMED.search(hunk.within)):
            places = [at for at in places if named[1] in _around(lines, there[at].start)]
        if len(places) == 1:
            return _moved(lines, hunk, fragment, there[places[0] : places[0] + len(fragment)])
    return None


@cache
def _of_file(lines: tuple[str, ...]) -> tuple[Logical, ...]:
    return logical_lines(lines)


def _places(there: Sequence[Logical], fragment: Sequence[Logical]) -> list[int]:
    return [
        at
        for at in range(len(there) - len(fragment) + 1)
        if all(one.matches(there[at + number]) for number, one in enumerate(fragment))
    ]


def _around(lines: tuple[str, ...], line: int) -> set[str]:
    """Return the names of the functions and classes that a line (from 0) is in."""
    return {
        node.name
        for node in ast.walk(_tree(lines))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= line + 1 <= (node.end_lineno or node.lineno)
    }


@cache
def _tree(lines: tuple[str, ...]) -> ast.Module:
    return ast.parse("\n".join(lines) + "\n")


def _moved(
    lines: tuple[str, ...], hunk: Hunk, fragment: Sequence[Logical], there: Sequence[Logical]
) -> tuple[Edit, ...] | None:
    """Return the edits with the line numbers of this file; None if an edit changes a
    logical line of which the hunk shows only a part."""
    moved: list[Edit] = []
    for edits in _groups(hunk, fragment):
        first, last = edits[0], edits[-1]
        touched = _touched(fragment, first.start, last.stop)
        if touched:
            if any(fragment[each].part != "whole" for each in touched):
                return None
            start = min(first.start, fragment[touched[0]].start)
            stop = max(last.stop, fragment[touched[-1]].stop)
            place = Edit(there[touched[0]].start, there[touched[-1]].stop, hunk.after(start, stop, edits))
        else:
            at = _between(fragment, there, first.start)
            if at is None:
                return None
            place = Edit(at, at, hunk.after(first.start, last.stop, edits))
        moved.append(place)
    return tuple(moved)


def _groups(hunk: Hunk, fragment: Sequence[Logical]) -> list[list[Edit]]:
    """Return the edits; those together that change the same logical line."""
    groups: list[list[Edit]] = []
    for edit in hunk.edits:
        touched = _touched(fragment, edit.start, edit.stop)
        before = _touched(fragment, groups[-1][0].start, groups[-1][-1].stop) if groups else []
        if touched and before and touched[0] <= before[-1]:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _touched(fragment: Sequence[Logical], start: int, stop: int) -> list[int]:
    """Return the logical lines that an edit changes: those that it replaces, or that it adds lines inside."""
    return [
        number
        for number, each in enumerate(fragment)
        if (each.start < stop and start < each.stop if stop > start else each.start < start < each.stop)
    ]


def _between(fragment: Sequence[Logical], there: Sequence[Logical], line: int) -> int | None:
    """Return where in the file to insert what the hunk inserts before its line ``line``; None: unknown."""
    following = next((number for number, each in enumerate(fragment) if each.start >= line), None)
    if following is None:
        return there[-1].stop if fragment[-1].part != "start" else None
    if following == 0:
        return there[0].start if fragment[0].part != "end" else None
    if fragment[following].start == line:
        return there[following].start
    # Comments follow in the hunk: what is added stands closer to the statement before it.
    return there[following - 1].stop

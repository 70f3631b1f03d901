"""Fixes change lines of torch. This records which of these lines run. Other lines cost nothing."""

from __future__ import annotations

import sys
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from exportdiff.runtime.patching.fixes import changed_lines, fixes_of_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import CodeType, FrameType

    from exportdiff.runtime.patching.fixes import Fix

Line: TypeAlias = tuple[str, int]
"""The qualified name of a function, and the number of a line."""


class ExecutedLines:
    """The changed lines that were executed, by the name of the fix that has changed them."""

    def __init__(self, fixes: Collection[Fix]) -> None:
        """``fixes``: those that are installed while lines are recorded. Raises FixError."""
        self._lines_of = changed_lines(fixes)
        self._always = fixes_of_values(fixes)
        self._ran: dict[CodeType, set[int]] = defaultdict(set)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record while the block runs. Python calls a function for each line, so it runs half as fast."""
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    @property
    def by_fix(self) -> dict[str, frozenset[Line]]:
        """The changed lines that ran. If only unchanged lines of a fix's functions ran, its set is empty.

        So is that of a fix that changes a value, such as a table: any code may have read it.
        """
        found: dict[str, set[Line]] = defaultdict(set, {fix: set() for fix in self._always})
        for code, ran in self._ran.items():
            owners = self._lines_of[id(code)]
            for line, fix in owners.items():
                found[fix].update({(code.co_qualname, line)} if line in ran else ())
        return {fix: frozenset(lines) for fix, lines in found.items()}

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        if id(frame.f_code) not in self._lines_of:
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._ran[frame.f_code].add(frame.f_lineno)
        return self._line

"""Candidate fixes that a process holds while it judges many programs, and lifts to judge plain torch.

A process has one torch, so what it holds is kept here, in one place of the process.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fixes import applied, remember

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator

    from exportdiff.runtime.patching.fixes import Fix


class _Held:
    """The fixes that are in place now, and how to lift them."""

    def __init__(self) -> None:
        self.fixes: frozenset[Fix] = frozenset()
        self._stack = ExitStack()

    def change(self, fixes: frozenset[Fix]) -> None:
        """Lift the fixes that are in place, and put others in place. Raises FixError, with none in place."""
        if fixes == self.fixes:
            return
        self._stack.close()
        self.fixes = frozenset()
        if fixes:
            self._stack.enter_context(applied(fixes))
            self.fixes = fixes


_held = _Held()


def install(fixes: Collection[Fix], folder: pathlib.Path | None = None) -> None:
    """Keep these fixes in place, and no others, until the next call; none: plain torch.

    ``folder`` keeps what was compiled, for later processes. Raises FixError if the fixes do not fit this
    torch, or not together; then none is in place.
    """
    wanted = frozenset(fixes)
    if folder is not None and wanted and wanted != _held.fixes:
        remember(wanted, folder)
    _held.change(wanted)


def installed() -> frozenset[Fix]:
    """Return the fixes that this process holds."""
    return _held.fixes


@contextmanager
def only_these_fixes(fixes: Collection[Fix]) -> Iterator[None]:
    """Put these fixes in place instead of the held ones for the length of the block. Raises FixError."""
    before = _held.fixes
    _held.change(frozenset(fixes))
    try:
        yield
    finally:
        _held.change(before)


@contextmanager
def without_fixes() -> Iterator[None]:
    """Lift the held fixes for the length of the block."""
    with only_these_fixes(()):
        yield

"""The fixes that are installed in this process while it judges many programs.

They can be removed for a while, to judge plain torch. A process has one torch, so there is one such set.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from exportdiff.runtime.patching.fixes import applied, remember

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterator

    from exportdiff.runtime.patching.fixes import Fix


class _Installed:
    """The fixes that are installed now, and how to remove them."""

    def __init__(self) -> None:
        self.fixes: frozenset[Fix] = frozenset()
        self._stack = ExitStack()

    def change(self, fixes: frozenset[Fix]) -> None:
        """Remove the installed fixes, and install others. If that raises FixError, none is installed."""
        if fixes == self.fixes:
            return
        self._stack.close()
        self.fixes = frozenset()
        if fixes:
            self._stack.enter_context(applied(fixes))
            self.fixes = fixes


_installed = _Installed()


def install(fixes: Collection[Fix], folder: pathlib.Path | None = None) -> None:
    """Install these fixes, and no others, until the next call. Without fixes: plain torch.

    ``folder``: a cache of compiled fixes for later processes. Raises FixError if the fixes do not fit this
    torch or conflict; then none is installed.
    """
    wanted = frozenset(fixes)
    if folder is not None and wanted and wanted != _installed.fixes:
        remember(wanted, folder)
    _installed.change(wanted)


def installed() -> frozenset[Fix]:
    """Return the fixes that are installed in this process."""
    return _installed.fixes


@contextmanager
def only_these_fixes(fixes: Collection[Fix]) -> Iterator[None]:
    """Install these fixes instead of the installed ones while the block runs. Raises FixError."""
    before = _installed.fixes
    _installed.change(frozenset(fixes))
    try:
        yield
    finally:
        _installed.change(before)


@contextmanager
def without_fixes() -> Iterator[None]:
    """Remove the installed fixes while the block runs."""
    with only_these_fixes(()):
        yield

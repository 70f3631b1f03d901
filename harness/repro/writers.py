"""The table of writers: how to show what needs more than the common pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.findings import Finding


class Parts(NamedTuple):
    """What of a file is peculiar to a finding; ``string.Template`` text, as in parts.py."""

    look: list[str]
    """Functions that note the thing to compare."""
    main: str
    """What the script does, indented by four; it prints one line and exits 0 or 1."""


Writer = Callable[["Finding"], "Parts | None"]
"""Returns None for a finding that is not its own."""

WRITERS: tuple[Writer, ...] = ()


def written(finding: Finding) -> Parts | None:
    """Return what the first writer that knows the finding writes; None if the common pieces do."""
    return next((parts for write in WRITERS if (parts := write(finding)) is not None), None)

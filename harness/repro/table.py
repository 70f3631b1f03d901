"""What of a repro file is peculiar to a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.findings import Finding


class Parts(NamedTuple):
    """``string.Template`` text, as in parts.py."""

    look: list[str]
    """Functions that note the thing to compare."""
    main: str
    """What the script does, indented by four; it prints one line and exits 0 or 1."""


Writer = Callable[["Finding"], "Parts | None"]
"""Returns None for a finding that is not its own."""

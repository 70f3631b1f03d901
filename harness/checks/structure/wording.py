"""How the structure check puts names and calls into words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks.registry import mismatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.checks.registry import Difference
    from harness.findings import Stage


def different(stage: Stage, what: tuple[str, ...], *message: str) -> Difference:
    """Return a difference of a stage that is not that of a run."""
    return mismatch(what, *message, stage=stage)


def two_lists(expected: Sequence[str], seen: Sequence[str]) -> tuple[str, str]:
    """Return a line for eager's names and one for the path's."""
    return f"eager: {listed(expected)}", f"here: {listed(seen)}"


def listed(names: Sequence[str]) -> str:
    """Return names in a row, cut off where there are too many."""
    text = ", ".join(repr(name) if name == "" else name for name in names)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


_WIDTH = 300

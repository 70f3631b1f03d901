"""The lines of ``check`` on dynamic dimensions: what was declared, what the program and eager accept."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.runtime.observing.sizes import DynamicDimension, TriedSize


def size_lines(dimensions: Sequence[DynamicDimension]) -> Iterator[str]:
    """Yield a heading, and for each dimension what is declared and which of the tried sizes are accepted."""
    if dimensions:
        yield "\nSizes of dynamic dimensions"
    for each in dimensions:
        yield f"{each.where}: declared {each.declared}; the program accepts {each.accepts}"
        for text, belongs in _GROUPS.items():
            sizes = [str(one.size) for one in each.tried if belongs(one)]
            if sizes:
                yield f"  {text}: {', '.join(sizes)}"


_GROUPS: dict[str, Callable[[TriedSize], bool]] = {
    "accepted by both": lambda one: one.eager and one.program,
    "accepted by eager alone": lambda one: one.eager and not one.program,
    "accepted by the program alone": lambda one: one.program and not one.eager,
    "refused by both": lambda one: not one.program and not one.eager,
}
"""What becomes of a size that was tried."""

"""The table of passes. A pass is a function that proposes edits of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from exportdiff.fuzzing.minimizing.tree import Edit, SourceTree

Propose = Callable[["SourceTree"], "Iterable[Edit]"]
Together = Literal["halves", "all", "never"]
"""How to try the edits of one pass. ``halves``: all together, then halves, down to single edits. ``all``: all
together, then each alone. ``never``: each alone, because one edit excludes the next."""


@dataclass(frozen=True)
class Pass:
    """One way to make a text smaller."""

    name: str
    propose: Propose
    together: Together
    level: int
    """The passes of a level run until none of them helps. Then the next level starts."""


PASSES: dict[str, Pass] = {}
"""The passes by name, in the order in which they run within their level."""


def reduction(*, level: int, together: Together = "halves") -> Callable[[Propose], Propose]:
    """Register a pass. Its docstring says what it tries, and when that helps."""

    def enter(propose: Propose) -> Propose:
        name = propose.__name__
        if name in PASSES:
            raise ValueError(f"there are two passes named {name!r}")
        PASSES[name] = Pass(name, propose, together, level)
        return propose

    return enter

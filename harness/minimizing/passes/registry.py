"""The table of passes: each is a function from a tree to the edits that it proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from harness.minimizing.tree import Edit, Tree

Propose = Callable[["Tree"], "Iterable[Edit]"]
Together = Literal["halves", "all", "never"]
"""How edits of one pass are tried: all at once, then by halves down to single ones; all at once, then each;
or each alone, where one excludes the next."""


@dataclass(frozen=True)
class Pass:
    """One way of making a text smaller."""

    name: str
    propose: Propose
    together: Together
    level: int
    """Passes of a level run until none of them helps; only then does the next level begin."""


PASSES: dict[str, Pass] = {}
"""By name, in the order in which they run within their level."""


def reduction(*, level: int, together: Together = "halves") -> Callable[[Propose], Propose]:
    """Enter a pass; its docstring says what it tries and when that pays."""

    def enter(propose: Propose) -> Propose:
        name = propose.__name__
        if name in PASSES:
            raise ValueError(f"there are two passes named {name!r}")
        PASSES[name] = Pass(name, propose, together, level)
        return propose

    return enter

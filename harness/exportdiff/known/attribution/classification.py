"""How a finding that the corpus does not explain relates to the fixes of the corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["new", "masked", "regression"]
"""``new``: plain torch shows it. ``masked``: a known bug hides it there. ``regression``: plain torch is
right, so a fix is wrong."""


@dataclass(frozen=True)
class Classification:
    """Plain data: it crosses a process boundary."""

    kind: Kind = "new"
    fixes: tuple[str, ...] = ()
    """The fewest fixes that show it when they are in place; empty: plain torch shows it."""
    remark: str = ""
    """Why this is not the whole answer: a search ran out of time."""
    searched: bool = True
    """False: nobody has looked for the fixes yet."""


NEW = Classification()

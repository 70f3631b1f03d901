"""Whether a finding that the corpus does not explain is new, masked or a regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ClassificationKind: TypeAlias = Literal["new", "masked", "regression"]
"""``new``: plain torch shows it. ``masked``: on plain torch, a known bug hides it. ``regression``: plain
torch is right, so a fix is wrong."""


@dataclass(frozen=True)
class Classification:
    """The classification of a finding. Plain data: it crosses a process boundary."""

    kind: ClassificationKind = "new"
    fixes: tuple[str, ...] = ()
    """The exposing fixes, as few as possible; empty: plain torch shows it."""
    remark: str = ""
    """Why the answer is not complete: a search ran out of time."""
    searched: bool = True
    """False: the exposing fixes have not been searched."""


NEW = Classification()

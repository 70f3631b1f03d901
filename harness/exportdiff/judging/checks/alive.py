"""alive: the path ends, and its process survives. A campaign sees a process die; nothing is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from exportdiff.core.finding import Evidence, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

ALIVE = "alive"
"""The name of the check."""


@dataclass(frozen=True)
class ProcessDied(Evidence):
    """Eager runs, and the path takes the process down or never ends."""

    kind: Literal["abort", "hang"]
    reason: str
    """For example the signal, or the time limit."""
    memory: int | None = None
    """The limit in MiB, if the process took more memory than that."""

    stage = "run"
    call = None
    relation = Relation.INDEPENDENT

    def words(self) -> tuple[str, ...]:
        if self.memory is not None:
            return ("memory",)
        return (self.reason if self.kind == "abort" else "",)

    def lines(self) -> Iterator[str]:
        what = "never ends" if self.kind == "hang" else "takes the process down"
        yield f"eager runs; this path {what} ({self.reason})"

"""What a check is, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from harness.findings import Kind, Stage
    from harness.observe.observation import EagerObservation, Observation


@dataclass(frozen=True)
class Difference:
    """What a check found, before the verdict decides which differences are one finding."""

    kind: Kind
    stage: Stage
    what: tuple[str, ...]
    """The check's part of the signature: stable words only."""
    message: str
    """First what differs and where, in one line; then the details."""
    call: int | None = None
    about: frozenset[str] = frozenset()
    """The FQNs of the state that it is about."""
    of_state: bool = False
    """Of an output: whether it is, or lives in, the state."""
    structures: tuple[str, str] | None = None
    """Where two pytrees differ: both."""
    alone: bool = False
    """Of a dynamic check: no other difference follows from this one, nor this from another."""
    weak: bool = False
    """Whether another difference of the same call says more: who is whose alias, rather than a value."""
    follows: bool = False
    """Of a static check: that it shows in a call, and so may follow from what an earlier call showed."""
    spoils: Literal["", "start", "calls", "values"] = ""
    """Of a static check: that the state before the first call, or what comes of the calls, or of that the
    values alone, cannot but differ."""


Check = Callable[["EagerObservation", "Observation"], Iterable[Difference]]
"""From what eager did and what a path did to how they differ. Pure; runs no model."""


def mismatch(
    what: tuple[str, ...],
    *message: str,
    stage: Stage = "run",
    call: int | None = None,
    about: Iterable[str] = (),
) -> Difference:
    """Return a difference that is not an exception; ``message`` is its lines."""
    return Difference("mismatch", stage, what, "\n".join(filter(None, message)), call, frozenset(about))

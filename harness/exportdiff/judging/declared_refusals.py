"""Refusals that may come in a call: those that a candidate fix declares, and documented ones of a backend.

With the fix, torch says in words that it cannot do this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.patching.fix import Fix


class Refusing(Protocol):
    """A refusal that a call may end with."""

    @property
    def name(self) -> str:
        """What it is counted as."""

    def covers(self, failure: Failure) -> bool:
        """Whether the failure is this refusal."""


@dataclass(frozen=True)
class DeclaredRefusal:
    """An exception that a fix in place raises on purpose. It may come at any stage."""

    name: str
    """The fix that declares it."""
    type: str
    """Name of the exception class, without its module."""
    text: str
    """What the message contains."""

    def covers(self, failure: Failure) -> bool:
        """Whether the failure is this refusal."""
        return failure.name == self.type and self.text in failure.message


def declared_by(fixes: Iterable[Fix]) -> tuple[DeclaredRefusal, ...]:
    """Return what these fixes declare, in the order of their names."""
    return tuple(
        DeclaredRefusal(fix.name, refused.type, refused.text)
        for fix in sorted(fixes, key=lambda fix: fix.name)
        for refused in fix.refuses
    )


def declared(failure: Failure, refusals: Sequence[Refusing]) -> Refusing | None:
    """Return the first of these refusals that a failure is, if it is one."""
    return next((refusal for refusal in refusals if refusal.covers(failure)), None)


def until_refused(
    observation: Observation, refusals: Sequence[Refusing]
) -> tuple[Observation, Refusing | None]:
    """Return the refusal that ended the path, and the path up to it.

    What came before the refusal must be right all the same.
    """
    if observation.failure is not None:
        refusal = declared(observation.failure, refusals)
        return (observation if refusal is None else replace(observation, failure=None)), refusal
    for number, call in enumerate(observation.calls):
        refusal = declared(call.failure, refusals) if call.failure is not None else None
        if refusal is not None:
            until = replace(
                observation,
                calls=observation.calls[:number],
                gradients=observation.gradients if number else None,
                edited=None,
                mutation_probes=(),
                deviations=(),
            )
            return until, refusal
    return observation, None

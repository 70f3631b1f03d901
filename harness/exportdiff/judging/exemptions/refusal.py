"""What a refusal is, and how to find the one that ended a path."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from exportdiff.core.finding import MESSAGE_LINES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exportdiff.core.finding import Stage
    from exportdiff.runtime.observing.failure import Failure
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.patching.fix import Fix


@dataclass(frozen=True)
class DocumentedRefusal:
    """A way in which torch refuses a model: an exception class, and its message if the class is too wide."""

    name: str
    """What it is counted as; several entries may share a name."""
    type: str
    """Qualified name of the class; subclasses count."""
    documented: str
    """Where torch says so."""
    pattern: str = ""
    """Regular expression to find in the message; empty for any message."""
    stage: Stage = "export"
    of_model: bool = False
    """Whether it covers only what the model calls, and not what torch itself calls."""
    runner: str = ""
    """The only runner whose paths it covers; empty: any."""

    def covers(self, failure: Failure) -> bool:
        """Whether the failure is this refusal."""
        return (
            failure.stage == self.stage
            and not (self.of_model and failure.by_torch)
            and self.type in failure.types
            and re.search(self.pattern, failure.message) is not None
        )


@dataclass(frozen=True)
class FixRefusal:
    """An exception that an installed fix raises on purpose, at any stage."""

    name: str
    """The fix that declares it."""
    type: str
    """Name of the exception class, without its module."""
    text: str
    """What the message contains."""
    documented: ClassVar[str] = ""
    """No page of torch says so."""
    runner: ClassVar[str] = ""

    def covers(self, failure: Failure) -> bool:
        """Whether the failure is this refusal."""
        return failure.name == self.type and self.text in failure.message


Refusal: TypeAlias = DocumentedRefusal | FixRefusal


def fix_refusals(fixes: Iterable[Fix]) -> tuple[FixRefusal, ...]:
    """Return the refusals that these fixes declare, in the order of the fixes' names."""
    return tuple(
        FixRefusal(fix.name, refused.type, refused.text)
        for fix in sorted(fixes, key=lambda fix: fix.name)
        for refused in fix.refuses
    )


@dataclass(frozen=True)
class RefusedPath:
    """A path that a refusal ended."""

    name: str
    """The name of the refusal."""
    documented: str
    """Where torch says so; empty for a refusal of a fix."""
    message: str
    """The first lines of what torch said."""
    until: Observation
    """What the path did before the refusal: that must be right all the same."""


def refused_by(failure: Failure, refusals: Iterable[Refusal]) -> Refusal | None:
    """Return the first of these refusals that covers a failure."""
    return next((refusal for refusal in refusals if refusal.covers(failure)), None)


def find_refusal(observation: Observation, refusals: Iterable[Refusal]) -> RefusedPath | None:
    """Return the first refusal on a path: of export or lowering, or else of a call."""
    refusals = tuple(each for each in refusals if each.runner in ("", observation.path.runner))
    if observation.failure is not None:
        refusal = refused_by(observation.failure, refusals)
        if refusal is None:
            return None
        until = replace(observation, failure=None)
        return RefusedPath(refusal.name, refusal.documented, _first_lines(observation.failure), until)
    for number, call in enumerate(observation.calls):
        if call.failure is not None and (refusal := refused_by(call.failure, refusals)) is not None:
            until = replace(
                observation,
                calls=observation.calls[:number],
                gradients=observation.gradients if number else None,
                edited=None,
                mutation_probes=(),
                deviations=(),
            )
            return RefusedPath(refusal.name, refusal.documented, _first_lines(call.failure), until)
    return None


def _first_lines(failure: Failure) -> str:
    """Return what torch said, without the pages that follow in some messages."""
    lines = [line for line in f"{failure.name}: {failure.message.strip()}".splitlines() if line.strip()]
    return "\n".join(lines[:MESSAGE_LINES])

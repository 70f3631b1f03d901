"""Findings made by hand, and what tests ask of evidence."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from exportdiff.core.finding import Evidence, Finding, Kind, Relation, Stage
from exportdiff.core.path import Path
from exportdiff.judging.checks import CHECKS
from exportdiff.judging.exemptions.find_limit import limit_for
from exportdiff.judging.exemptions.limits import Comparison
from exportdiff.runtime.observing.observation import EagerObservation, Observation
from exportdiff.runtime.paths import parse


@dataclass(frozen=True)
class Recorded(Evidence):
    """Evidence of which nothing but words and text are known."""

    what: tuple[str, ...]
    text: str
    kind: Kind
    stage: Stage
    call: int | None

    relation = Relation.IN_CALL

    def words(self) -> tuple[str, ...]:
        return self.what

    def lines(self) -> list[str]:
        return self.text.splitlines()


def make_finding(
    *words: str,
    path: Path | str = "nonstrict:unflatten@cpu",
    check: str = "outputs",
    kind: Kind = "mismatch",
    stage: Stage = "run",
    call: int | None = 0,
    message: str = "m",
) -> Finding:
    """Make a finding with the words of a signature behind check and kind."""
    path = parse(path) if isinstance(path, str) else path
    return Finding(path, check, Recorded(words, message, kind, stage, call))


def text(evidence: Evidence) -> str:
    """Return the message."""
    return "\n".join(evidence.lines())


def as_eager(seen: Observation, **further: Any) -> EagerObservation:
    """Return the same observation, as one of eager."""
    if isinstance(seen, EagerObservation):
        return seen
    common = {each.name: getattr(seen, each.name) for each in fields(Observation)}
    return EagerObservation(**common, **further)


def limit_name(evidence: Evidence, eager: EagerObservation, seen: Observation) -> str:
    """Return the name of the documented limit that a difference is; empty if it is none."""
    limit = limit_for(Comparison(evidence, eager, seen))
    return limit.name if limit else ""


def found_by(check: str, eager: EagerObservation, seen: Observation) -> list[Evidence]:
    """Return what the check finds, documented limits apart, as the verdict does."""
    return [each for each in CHECKS[check](eager, seen) if not limit_name(each, eager, seen)]

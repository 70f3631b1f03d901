"""The tasks of the zoo's child processes: judge one model, then find out what explains its findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.judge.judge_case import judge_case
from harness.known.attribution import explain
from harness.known.knowledge import knowledge
from harness.zoo.sources import model_named

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from harness.judge.results import Verdict
    from harness.known.explained import Explained
    from harness.path import Path


@dataclass(frozen=True)
class NotBuilt:
    """The model cannot be built, in the versions that are installed."""

    reason: str


@dataclass(frozen=True)
class Confirmed:
    """What a second process says about the findings of the first."""

    parts: tuple[Explained, ...]
    dropped: int = 0
    """How many findings did not show again: they are no findings."""


def judge_model(name: str, paths: Sequence[Path]) -> Verdict | NotBuilt:
    """Judge a model in this process; along no path, only see whether the process survives eager."""
    case = model_named(name).case()
    try:
        case.build()
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        return NotBuilt(f"{type(error).__name__}: {first_line}")
    return judge_case(case, paths)


def confirm_and_explain(
    name: str, verdict: Verdict, paths: Sequence[Path], corpora: pathlib.Path, seconds: float
) -> Confirmed:
    """Judge a model again, and say which root causes explain the findings that show both times.

    ``seconds``: of CPU, for the search for causes.
    """
    case = model_named(name).case()
    again = judge_case(case, paths)
    first = {finding.fingerprint for finding in verdict.findings}
    kept = tuple(finding for finding in again.findings if finding.fingerprint in first)
    second = {finding.fingerprint for finding in kept}
    confirmed = type(again)(again.valid, again.invalid_reason, again.paths, kept, again.torch_seconds)
    # A model has no tags, so no trigger of the corpus matches it.
    parts = explain(case, confirmed, (), knowledge(corpora), seconds=seconds)
    return Confirmed(parts, len(first - second))

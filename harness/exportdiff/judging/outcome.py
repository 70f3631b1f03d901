"""The outcome of one path: what was really compared, and what ended it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.judging.checks.outputs import PathRaised
from exportdiff.judging.results import PathResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exportdiff.core.finding import Evidence, Finding
    from exportdiff.judging.exemptions.refusal import RefusedPath
    from exportdiff.judging.results import Outcome, Status
    from exportdiff.runtime.observing.observation import Observation

NOTHING_COMPARED = "no call of the exported model was compared"


@dataclass(frozen=True)
class Excused:
    """A difference that a documented limit excuses."""

    limit: str
    """The name of the limit."""
    evidence: Evidence


def path_result(
    observed: Observation,
    refused: RefusedPath | None,
    findings: Sequence[Finding],
    excused: Sequence[Excused],
    first_call_because: str,
) -> PathResult:
    """Return the result of one path. ``refused``: the documented refusal that ended it.

    A refused path stays refused if it has findings as well, such as a setting that it left changed.
    """
    path, limits = observed.path, tuple(sorted({each.limit for each in excused}))
    headline = findings[0].evidence.headline if findings else ""
    status: Status = "finding" if findings else "ok"
    if refused is not None:
        status = "finding" if findings else "unsupported"
        return PathResult(
            path,
            status,
            refused.name,
            limits,
            refused.message,
            outcome="refused",
            source=refused.documented,
        )
    crash = _excused_crash(observed, excused)
    if crash is not None:
        said = "\n".join(crash.evidence.lines())
        return PathResult(path, status, crash.limit, limits, said, outcome="refused")
    crashes = any(each.kind != "mismatch" for each in findings)
    if not observed.calls and not crashes:
        return PathResult(path, status, NOTHING_COMPARED, limits, headline)
    outcome: Outcome = "differs" if findings else "agrees"
    return PathResult(path, status, "", limits, headline, first_call_because, outcome)


def _excused_crash(observed: Observation, excused: Iterable[Excused]) -> Excused | None:
    """Return the exception of export, of lowering or of an ordinary call that a limit excuses.

    A path may refuse a probe, and still agree in the calls with the sizes of the example.
    """
    for each in excused:
        evidence = each.evidence
        if not isinstance(evidence, PathRaised):
            continue
        if evidence.call is None or not observed.calls[evidence.call].probe:
            return each
    return None

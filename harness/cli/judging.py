"""Judges one model in child processes, for the commands that are given a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from harness.engine.postmortem import post_mortem
from harness.errors import UsageError
from harness.judge.results import PathResult, Verdict
from harness.processes.calls import call_fresh
from harness.processes.child import Death, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.findings import Finding
    from harness.paths import Path

T = TypeVar("T")


def call(seconds: float, task: Callable[..., T | str], *args: object) -> T | Death:
    """Run a task in a fresh process.

    Raises UsageError if it returns a message, and what the task raised if exportdiff itself failed.
    """
    answer = call_fresh(seconds, task, *args)
    if isinstance(answer, str):
        raise UsageError(answer)
    if isinstance(answer, Failure):
        raise answer.error
    return answer


def judged_one_by_one(
    written: str, judge: Callable[[tuple[Path, ...]], Verdict | Death], paths: Sequence[Path]
) -> Verdict:
    """Judge each path in a process of its own; a path that kills its process is a finding.

    ``written`` is what the user calls the model. Raises UsageError if eager alone kills its process.
    """
    found = post_mortem(judge, paths)
    if found.eager is not None:
        what = "hangs" if found.eager.kind == "hang" else "takes the process down"
        raise UsageError(f"{written} {what} by itself ({found.eager.reason})")
    for verdict in found.alive.values():
        if not verdict.valid:
            return verdict
    deadly = {finding.path: finding for finding in found.findings}
    results: list[PathResult] = []
    findings: list[Finding] = []
    for path in paths:
        if path in found.deaths:
            results.append(PathResult(path, "finding", found.deaths[path].reason))
            findings += filter(None, (deadly.get(path),))
        else:
            results += found.alive[path].paths
            findings += found.alive[path].findings
    seconds = sum(verdict.torch_seconds for verdict in found.alive.values())
    return Verdict(True, "", tuple(results), tuple(findings), seconds)

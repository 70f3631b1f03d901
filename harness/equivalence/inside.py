"""What a child process does with a user's model. Imported there alone: it needs torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.equivalence.loading import load
from harness.judge.results import Verdict
from harness.judge.verdict import judge as judge_paths
from harness.known.attribution import explain
from harness.known.knowledge import knowledge
from harness.paths.run.eager import observe_eager
from harness.paths.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable, Sequence

    from harness.equivalence.target import Target
    from harness.findings import Finding
    from harness.judge.causes import Judged
    from harness.judge.results import PathResult
    from harness.known.explained import Explained
    from harness.path import Path


def judge(target: Target, paths: Sequence[Path], tell: Callable[[PathResult, Judged], None]) -> Verdict:
    """Judge the user's model in this process; see ``harness.judge.verdict.judge``. Raises UsageError."""
    return judge_paths(load(target), paths, tell=tell)


def run_eager(target: Target, device: str) -> None:
    """Run the user's model eagerly, to see whether the process survives it. Raises UsageError."""
    observe_eager(load(target), device, Stopwatch())


def explain_findings(
    target: Target, findings: tuple[Finding, ...], paths: tuple[PathResult, ...], corpora: pathlib.Path
) -> tuple[Explained, ...]:
    """Return which findings a fix of the corpus explains; see ``harness.known.attribution.explain``.

    A user's own model has no tags, so no trigger of the corpus matches it.
    """
    return explain(load(target), Verdict(True, "", paths, findings, 0.0), (), knowledge(corpora))

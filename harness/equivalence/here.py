"""Judges a case in this process: for Python and pytest, where the model is an object that no child has."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from harness.equivalence.report import Found, Report
from harness.judge.results import Unjudged
from harness.judge.verdict import judge
from harness.known.attribution import explain
from harness.known.knowledge import knowledge

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from harness.case import Case
    from harness.judge.results import Verdict
    from harness.path import Path


def judge_here(case: Case, paths: Sequence[Path], corpora: pathlib.Path | None = None) -> Report:
    """Judge along all paths, then again along those that differ, then ask the corpus what is known.

    Changes nothing of the process but torch's caches: compiled functions are compiled again when they are
    next called. A path that ends the process ends this one.
    """
    report = Report(case.name, version("torch"))
    if not paths:
        return report
    verdict = judge(case, paths)
    known = {*(each.path for each in verdict.paths), *(each.path for each in verdict.unjudged)}
    left = tuple(Unjudged(path, verdict.invalid_reason) for path in paths if path not in known)
    unjudged = (*verdict.unjudged, *left)
    report = replace(report, paths=verdict.paths, unjudged=unjudged, invalid=verdict.invalid_reason)
    if not verdict.findings:
        return report
    confirmed = _confirmed(case, verdict)
    dropped = len(verdict.findings) - len(confirmed.findings)
    found = tuple(map(Found, confirmed.findings))
    if corpora is not None and found:
        parts = explain(case, confirmed, (), knowledge(corpora.resolve()))
        found = tuple(Found(part.finding, part.causes, part.remark) for part in parts)
    return replace(report, found=found, unconfirmed=dropped)


def _confirmed(case: Case, verdict: Verdict) -> Verdict:
    """Keep the findings that a second judgement shows as well."""
    paths = dict.fromkeys(path for finding in verdict.findings for path in finding.shown_on)
    again = {finding.fingerprint for finding in judge(case, tuple(paths)).findings}
    kept = tuple(finding for finding in verdict.findings if finding.fingerprint in again)
    return replace(verdict, findings=kept)

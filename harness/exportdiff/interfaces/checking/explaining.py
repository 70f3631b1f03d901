"""Finds out which findings of a model are known bugs of torch. Imports torch."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.explanation_cache import ExplanationCache
from exportdiff.interfaces.checking.found import Found
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.attribute import explanations
from exportdiff.known.attribution.explained import on_paths
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.known.attribution.shown_tags import shown_tags

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Collection, Iterable, Iterator

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.core.path import Path
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.known.attribution.explained import By, ExplainedFinding, KnownCause

JUDGEMENTS = 60
"""How often a model is judged for each finding: three times as often as in a campaign. Findings of users'
models need four or five fixes more often than those of drawn programs, and there is only one model to wait
for."""
SECONDS = 240.0
"""The limit of CPU time for all findings of a model. A fix is tried on all paths that show the finding:
of the default paths, that may be all."""


def explained(
    case: Case, report: Report, corpora: pathlib.Path, left_out: Collection[Finding] = ()
) -> Iterator[tuple[Found, ...]]:
    """Yield each finding of a report with the root causes that explain it, in parts if its paths differ.

    Answers are cached on disk.
    ``left_out``: the findings that are not looked for in the corpus.
    """
    findings = tuple(each.finding for each in report.found)
    cache = ExplanationCache(case, findings, corpora)
    if not case.source:
        case = replace(case, source=_source_of_classes(case))
    done = {finding: parts for finding in findings if (parts := cache.read(finding)) is not None}
    done |= {finding: (Found(finding, searched=False),) for finding in left_out}
    searched = _searched(case, report, [each for each in findings if each not in done], corpora)
    for finding in findings:
        parts = done.get(finding)
        if parts is None:
            parts = next(searched)
            cache.write(finding, [part.at(_without_record(part.finding.first_difference)) for part in parts])
        yield tuple(part.at(finding.first_difference) for part in parts)


def _without_record(place: FirstDifference | None) -> FirstDifference | None:
    return replace(place, recorded=None) if place is not None else None


def _searched(
    case: Case, report: Report, findings: list[Finding], corpora: pathlib.Path
) -> Iterator[tuple[Found, ...]]:
    """Look for some of the findings of a report in the corpus."""
    verdict = Verdict(True, "", report.paths, tuple(each.finding for each in report.found), 0.0)
    known = knowledge(corpora.resolve())
    tags = shown_tags(case)
    answers = explanations(case, verdict, tags, known, wanted=findings, each=JUDGEMENTS, seconds=SECONDS)
    for finding, parts in zip(findings, answers, strict=True):
        yield tuple(joined(finding, parts))


def joined(finding: Finding, parts: Iterable[ExplainedFinding]) -> Iterator[Found]:
    """Yield the parts of a finding: one for all paths with the same answer, also if they need other fixes."""
    paths: dict[tuple[tuple[KnownCause, ...], By, str, bool], set[Path]] = {}
    for part in parts:
        answer = part.causes, part.by, part.remark, part.searched
        paths.setdefault(answer, set()).update(part.finding.shown_on)
    for answer, on in paths.items():
        yield Found(on_paths(finding, tuple(path for path in finding.shown_on if path in on)), *answer)


def _source_of_classes(case: Case) -> str:
    """Return the source text of the classes of a model that was given as an object."""
    classes = dict.fromkeys(type(module) for module in case.build().model.modules())
    texts = []
    for each in classes:
        if each.__module__.partition(".")[0] != "torch":
            with suppress(OSError, TypeError):  # it was not written in a file
                texts.append(inspect.getsource(each))
    return "\n".join(texts)

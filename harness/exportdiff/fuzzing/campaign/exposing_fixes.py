"""Finds, once per fingerprint, the fixes that must be installed for a finding of mended torch to show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from exportdiff.known.attribution.explained import ExplainedFinding
from exportdiff.known.attribution.residual import ResidualFinding
from exportdiff.runtime.processes.child import Death, TaskFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    from exportdiff.core.finding import Finding
    from exportdiff.fuzzing.campaign.worker import ExampleResult
    from exportdiff.known.attribution.classification import Classification, ClassificationKind

    Search: TypeAlias = Callable[
        [str, Finding, ClassificationKind], ExplainedFinding | ResidualFinding | Death | TaskFailure
    ]
    """Searches in a worker: takes the source of the program, the finding and its kind."""
    Remembered: TypeAlias = Callable[[str, Callable[..., Any]], Callable[..., Any]]
    """Returns a function that remembers its answers: see ``Journal.remembered``."""


class ExposingFixes:
    """The exposing fixes of each fingerprint. Only its first program is searched.

    Results come in the order of their index, so the answers do not depend on the number of workers.
    """

    def __init__(self, search: Search, remembered: Remembered = lambda kind, function: function) -> None:
        """Start without answers. ``remembered`` knows what an earlier run of the campaign found."""
        self._search = search
        self._ask = remembered("exposed", self._find)
        self._answers: dict[tuple[str, ClassificationKind], ExplainedFinding | Classification] = {}

    def knows(self, result: ExampleResult) -> bool:
        """Whether the result can be completed without a search."""
        return all((name, kind) in self._answers for name, kind in _open(result))

    def completed(self, result: ExampleResult) -> ExampleResult:
        """Return the result with the exposing fixes of each finding; those in the corpus become known."""
        if result.verdict is None:
            return result
        findings = {finding.fingerprint: finding for finding in reversed(result.verdict.findings)}
        known, classifications = list(result.known), dict(result.classifications)
        for name, kind in _open(result):
            finding = findings[name]
            answer = self._answers.get((name, kind))
            if answer is None:
                key = f"{name} {kind}"
                answer = self._ask(key, result.source, finding, classifications[name])
                self._answers[name, kind] = answer
            if isinstance(answer, ExplainedFinding):
                del classifications[name]
                known.append(replace(answer, finding=finding))
            else:
                classifications[name] = answer
        return replace(result, known=tuple(known), classifications=classifications)

    def _find(
        self, key: str, source: str, finding: Finding, classification: Classification
    ) -> ExplainedFinding | Classification:
        answer = self._search(source, finding, classification.kind)
        if isinstance(answer, ResidualFinding):
            return answer.classification
        if isinstance(answer, Death | TaskFailure):
            reason = (
                answer.reason if isinstance(answer, Death) else str(answer.error).strip().splitlines()[-1]
            )
            remark = f"the search for the fixes that expose it ended in {reason}"
            return replace(classification, remark=remark, searched=True)
        return answer


def _open(result: ExampleResult) -> list[tuple[str, ClassificationKind]]:
    """Return the fingerprints and kinds that have not been searched."""
    return [
        (name, classification.kind)
        for name, classification in sorted(result.classifications.items())
        if not classification.searched
    ]

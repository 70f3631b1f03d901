"""The exposing fixes of a finding are searched once per fingerprint."""

from __future__ import annotations

from dataclasses import replace

from exportdiff.core.finding import Finding
from exportdiff.fuzzing.campaign.exposing_fixes import ExposingFixes
from exportdiff.fuzzing.campaign.worker import ExampleResult
from exportdiff.judging.results import Verdict
from exportdiff.known.attribution.classification import Classification, ClassificationKind
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause
from exportdiff.known.attribution.residual import ResidualFinding
from exportdiff.runtime.processes.child import Death, TaskFailure
from support.evidence_of import make_finding


def found(word: str) -> Finding:
    """Return a finding whose fingerprint depends on ``word``."""
    return make_finding(word)


def left(index: int, *findings: Finding) -> ExampleResult:
    """Return the result of a program on which a known bug hides these findings."""
    unsearched = {each.fingerprint: Classification("masked", searched=False) for each in findings}
    return ExampleResult(
        index, Verdict(True, "", (), findings, 0.0), source="program", classifications=unsearched
    )


class Search:
    """Answers every search with what it is made with, and counts."""

    def __init__(self, answer: ExplainedFinding | ResidualFinding | Death | TaskFailure) -> None:
        """Prepare the answer."""
        self.answer = answer
        self.asked: list[Finding] = []

    def __call__(
        self, source: str, finding: Finding, kind: ClassificationKind
    ) -> ExplainedFinding | ResidualFinding | Death | TaskFailure:
        """Count the question."""
        assert (source, kind) == ("program", "masked")
        self.asked.append(finding)
        return self.answer


def test_one_search_for_each_fingerprint() -> None:
    first, second = found("first"), found("second")
    classification = Classification("masked", ("a_fix",))
    search = Search(ResidualFinding(first, classification))
    exposing_fixes = ExposingFixes(search)
    for result in (left(0, first), left(1, first), left(2, second, first)):
        completed = exposing_fixes.completed(result)
        assert set(completed.classifications.values()) == {classification}
        assert completed.known == ()
    assert search.asked == [first, second]


def test_what_the_corpus_has_recorded_is_known_on_every_program() -> None:
    finding = found("first")
    search = Search(ExplainedFinding(finding, (KnownCause("a_fix", "an_entry"),)))
    exposing_fixes = ExposingFixes(search)
    for index in range(2):
        completed = exposing_fixes.completed(left(index, finding))
        assert completed.classifications == {}
        assert [part.causes for part in completed.known] == [(KnownCause("a_fix", "an_entry"),)]
    assert len(search.asked) == 1


def test_a_search_that_dies_leaves_a_remark() -> None:
    finding = found("first")
    exposing_fixes = ExposingFixes(Search(Death("abort", "SIGSEGV")))
    (classification,) = exposing_fixes.completed(left(0, finding)).classifications.values()
    assert classification.searched
    assert "SIGSEGV" in classification.remark


def test_new_findings_take_no_search() -> None:
    search = Search(Death("hang", "never asked"))
    exposing_fixes = ExposingFixes(search)
    finding = found("first")
    new = replace(left(0, finding), classifications={finding.fingerprint: Classification()})
    assert exposing_fixes.knows(new)
    assert exposing_fixes.completed(new).classifications == new.classifications
    assert not exposing_fixes.knows(left(1, finding))
    assert search.asked == []

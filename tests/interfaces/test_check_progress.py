"""Findings are printed when they are confirmed, their explanations when they are known."""

from __future__ import annotations

import io
import pathlib
from dataclasses import replace

import pytest
from rich.console import Console

from exportdiff.core.case import case_from_source
from exportdiff.core.first_difference import FirstDifference
from exportdiff.interfaces.checking.baseline import NO_BASELINE
from exportdiff.interfaces.checking.check_steps import FindingConfirmed, FindingExplained
from exportdiff.interfaces.checking.confirmation import SecondJudgement
from exportdiff.interfaces.checking.explaining import joined
from exportdiff.interfaces.checking.explanation_cache import ExplanationCache
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.reports.check_progress import CheckProgress
from exportdiff.judging.checks.compare.leaves import LeafDifference
from exportdiff.judging.checks.outputs import OutputLeaf
from exportdiff.known.attribution.explained import ExplainedFinding, KnownCause, on_paths
from exportdiff.known.corpus.entry import default_corpora
from exportdiff.known.corpus.known_bug import KnownBug
from exportdiff.known.corpus.versions import versions
from exportdiff.known.corpus.workaround import Workaround
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

FINDING = make_finding("value")
BUG = KnownBug("title", "cause", versions({"2.13.0": "shows"}), "", Workaround("Copy instead."))
KNOWN = Found(FINDING, (KnownCause("a_fix", "an_entry", BUG),))
LATE = Found(FINDING, remark="the time limit was reached before it was explained", searched=False)


def test_a_finding_is_confirmed_as_soon_as_its_first_path_shows_it_again() -> None:
    confirmed: list[Found] = []
    other = replace(FINDING, check="aliasing")
    report = Report("m", "2.13.0", found=(Found(FINDING), Found(other)))
    confirmation = SecondJudgement(report, confirmed.append)
    assert confirmation.paths == (FINDING.path,)
    confirmation.see(FINDING)
    assert confirmed == [Found(FINDING)] and confirmation.waiting == 1
    assert confirmation.finished().found == (Found(FINDING),)
    late = confirmation.stopped("the time limit was reached").found[1]
    assert (late.explanation, late.remark) == (
        "not explained",
        "the time limit was reached before it was confirmed",
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (KNOWN, "known bug of torch: title\n  why: cause"),
        (Found(FINDING), "new: no entry of the corpus explains it"),
        (LATE, "not explained: the time limit was reached before it was explained"),
    ],
)
def test_the_explanation_follows_the_finding(part: Found, said: str) -> None:
    text = io.StringIO()
    console = Console(file=text, width=160)
    progress = CheckProgress(console, (), "model.py:make", pathlib.Path("corpora"), NO_BASELINE)
    progress.on_step(FindingConfirmed(Found(FINDING), None))
    assert FINDING.message in text.getvalue() and said not in text.getvalue()
    progress.on_step(FindingExplained(Found(FINDING), (part,), None))
    assert f"{FINDING.fingerprint}:\n{said}" in text.getvalue()
    assert FINDING.fingerprint in progress.printed


def test_paths_with_the_same_answer_are_explained_together() -> None:
    other = parse("strict:module@cpu")
    finding = FINDING.showing([FINDING.on(FINDING.path), FINDING.on(other)])
    place = FirstDifference(0, "child", 1, "aten.add", "net.py", 14)
    parts = [ExplainedFinding(on_paths(finding, (path,)), KNOWN.causes) for path in finding.shown_on]
    assert tuple(joined(finding, reversed(parts))) == (replace(KNOWN, finding=finding),)
    text = io.StringIO()
    progress = CheckProgress(Console(file=text, width=160), (), "model.py:make", None, NO_BASELINE)
    progress.on_step(
        FindingExplained(Found(finding), tuple(each.at(place) for each in joined(finding, parts)), None)
    )
    assert text.getvalue().startswith(
        f"\n{finding.fingerprint} (child, net.py:14):\nknown bug of torch: title"
    )
    unlike = joined(finding, (parts[0], replace(parts[1], causes=())))
    progress.on_step(FindingExplained(Found(finding), tuple(unlike), None))
    assert "on nonstrict:unflatten:\nknown bug of torch: title (see above)" in text.getvalue()
    assert "on strict:module:\nnew: no entry" in text.getvalue()


def test_what_was_not_explained_may_be_new_and_fails() -> None:
    assert [each.explanation for each in (KNOWN, Found(FINDING), LATE)] == ["known", "new", "not explained"]
    assert [each.fails("new") for each in (KNOWN, Found(FINDING), LATE)] == [False, True, True]
    assert LATE.as_dict()["explanation"] == "not explained"


def test_an_explanation_is_cached_for_the_same_source_and_findings(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    corpora = default_corpora()
    assert corpora is not None
    case = case_from_source("def make():\n    return None\n")
    evidence = OutputLeaf(0, "[0]", "fresh", LeafDifference("stride", "[4, 1]", "[1, 4]"))
    finding = replace(FINDING, evidence=evidence)
    known, late = (replace(each, finding=finding) for each in (KNOWN, LATE))
    cache = ExplanationCache(case, [finding], corpora)
    cache.write(finding, (late,))
    assert cache.read(finding) is None  # the search for it has not ended
    cache.write(finding, (known,))
    read = ExplanationCache(case, [finding], corpora).read(finding)
    assert read == (known,) and read[0].workarounds == known.workarounds == ("none: Copy instead.",)
    other = replace(case, source="def make():\n    return 1\n")
    assert ExplanationCache(other, [finding], corpora).read(finding) is None
    more = [finding, replace(finding, check="aliasing")]
    assert ExplanationCache(case, more, corpora).read(finding) is None

"""The exit code and all reports follow from the outcomes of the paths: nobody gets 0 without a comparison."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportdiff.cli import main
from exportdiff.core.finding import Finding
from exportdiff.core.path import Path
from exportdiff.core.target import Target
from exportdiff.fuzzing.campaign.events import CampaignFinished, Event
from exportdiff.interfaces.checking.confirmation import SecondJudgement
from exportdiff.interfaces.checking.found import FAIL_ON, FailOn, Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.reports.junit import suite
from exportdiff.interfaces.reports.sarif import sarif
from exportdiff.judging.results import OUTCOMES, Outcome, PathResult, Status, Unjudged
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding
from support.handmade import done, started

PATHS = tuple(
    map(
        parse,
        ("nonstrict:module@cpu", "nonstrict:unflatten@cpu", "strict:module@cpu", "strict:unflatten@cpu"),
    )
)
STATUS: dict[Outcome, tuple[Status, ...]] = {
    "agrees": ("ok",),
    "differs": ("finding",),
    "refused": ("unsupported", "finding", "ok"),
    "not judged": ("ok", "finding"),
}
"""The statuses that a path with each outcome may have."""
KNOWN = (KnownCause("a_fix", "an_entry"),)


def _finding(kind: str, paths: tuple[Path, ...]) -> Finding:
    made = {
        "wrong": make_finding("value"),
        "breaks": make_finding("lower", kind="crash", stage="lower"),
        "inside": make_finding("names", check="structure"),
    }[kind]
    return replace(made, path=paths[0], shown_on=paths)


@st.composite
def _found(draw: st.DrawFn, paths: tuple[Path, ...]) -> Found:
    shown = draw(st.lists(st.sampled_from(paths), min_size=1, unique=True).map(tuple))
    kind = draw(st.sampled_from(["wrong", "breaks", "inside"]))
    return Found(
        _finding(kind, shown),
        KNOWN if draw(st.booleans()) else (),
        accepted=draw(st.booleans()),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    results, left = [], []
    for path in PATHS[: draw(st.integers(0, len(PATHS)))]:
        outcome = draw(st.sampled_from(OUTCOMES))
        if outcome == "not judged" and draw(st.booleans()):
            left.append(Unjudged(path, "no time"))
            continue
        status = draw(st.sampled_from(STATUS[outcome]))
        results.append(PathResult(path, status, "because", (), "torch says no", outcome=outcome))
    ran = tuple(each.path for each in results if each.status == "finding")
    return Report(
        "model.py:make",
        "2.13.0",
        tuple(results),
        tuple(left),
        tuple(draw(st.lists(_found(ran), max_size=4))) if ran else (),
        draw(st.sampled_from(["", "", "eager raised"])),
        draw(st.integers(0, 1)),
        draw(st.sampled_from(["", "", "interrupted"])),
    )


@given(reports(), st.sampled_from(FAIL_ON))
def test_exit_0_means_that_a_path_was_compared_and_nothing_on_it_fails(
    report: Report, fail_on: FailOn
) -> None:
    settled = [
        result
        for result in report.paths
        if result.outcome == "agrees"
        or (
            result.outcome == "differs"
            and (shown := [each for each in report.found if result.path in each.finding.shown_on])
            and not any(each.fails(fail_on) for each in shown)
        )
    ]
    code = report.exit_code(fail_on)
    fails = any(each.fails(fail_on) for each in report.found)
    assert (code == 1) == fails
    if code == 0:
        assert settled and not report.invalid and not report.stopped
    if not fails and all(each.outcome in ("refused", "not judged") for each in report.paths):
        assert code == 2


@given(reports(), st.sampled_from(FAIL_ON))
def test_all_reports_agree_with_the_exit_code(report: Report, fail_on: FailOn) -> None:
    code = report.exit_code(fail_on)
    document = report.as_dict()
    (run,) = sarif(report, Target.parse("json:loads"), fail_on)["runs"]
    element = suite(report, fail_on)
    assert len(document["paths"]) == sum(document["outcomes"].values())
    assert int(element.get("tests", "0")) == len(document["paths"]) + (not document["judged"])
    failures, errors = int(element.get("failures", "0")), int(element.get("errors", "0"))
    assert document["judged"] == run["invocations"][0]["executionSuccessful"] == (not errors)
    assert (code == 1) == bool(failures) == any(each["level"] != "note" for each in run["results"])
    assert (code == 2) == (not document["judged"] and not failures)
    assert bool(document["reason"]) == (not document["judged"])
    assert _skipped(element) >= {
        path
        for path, each in document["paths"].items()
        if each["outcome"] in ("refused", "not judged") and path not in _failed(element)
    }


def _skipped(element: ElementTree.Element) -> set[str | None]:
    return {case.get("name") for case in element if case.find("skipped") is not None}


def _failed(element: ElementTree.Element) -> set[str | None]:
    return {case.get("name") for case in element if case.find("failure") is not None}


def test_a_path_whose_differences_no_second_process_shows_is_not_judged() -> None:
    path = PATHS[0]
    found = Found(_finding("wrong", (path,)))
    result = PathResult(path, "finding", outcome="differs")
    report = SecondJudgement(Report("m", "2.13.0", (result,), found=(found,))).finished()
    assert (report.exit_code(), report.unconfirmed) == (2, 1)
    assert report.outcomes.paths[0].outcome == "not judged"


INVALID = replace(done(0), valid=False, invalid_reason="eager raised: x", paths=())
REFUSED = [started(), done(0, refused=True), CampaignFinished(2.0, "examples", 0, 1.0)]


@pytest.mark.parametrize(
    ("events", "code", "said"),
    [
        ([started(), CampaignFinished(2.0, "time", 0, 1.0)], 2, "the campaign ended before the first"),
        (
            [started(), INVALID, REFUSED[-1]],
            2,
            "none of 1 program is valid (eager raised)",
        ),
        (REFUSED, 2, "torch refuses all valid ones of 1 program"),
        ([started(), done(0), REFUSED[-1]], 0, "1 program in"),
    ],
)
def test_a_campaign_that_judges_no_program_is_2_and_says_why(
    events: list[Event],
    code: int,
    said: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Recorded:
        def __init__(self, *_: object, **__: object) -> None: ...

        def run(self) -> list[Event]:
            return events

    monkeypatch.setattr("exportdiff.cli.campaign_run.Campaign", Recorded)
    junit = tmp_path / "junit.xml"
    assert main(["fuzz", "--examples", "1", "--out", str(tmp_path / "out"), "--junit", str(junit)]) == code
    assert said in capsys.readouterr().out
    (element,) = ElementTree.parse(junit).getroot()
    assert element.get("errors") == str(int(code == 2))
    page, summary = tmp_path / "page.html", tmp_path / "summary.md"
    assert main(["report", str(tmp_path / "out"), "--out", str(page), "--summary", str(summary)]) == 0
    assert ("No program was judged." in summary.read_text()) == (code == 2)


def test_a_factory_that_raises_is_in_all_files(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, junit, log = tmp_path / "model.py", tmp_path / "junit.xml", tmp_path / "log.sarif"
    file.write_text("def make():\n    raise KeyError('weights')\n")
    command = ["check", f"{file}:make", "--paths", "nonstrict:*", "--json"]
    assert main([*command, "--junit", str(junit), "--sarif", str(log)]) == 2
    told = capsys.readouterr()
    document = json.loads(told.out)
    said = "raised KeyError: 'weights' (line 2)"
    assert document["judged"] is False and said in document["reason"] and said in told.err
    assert {each["outcome"] for each in document["paths"].values()} == {"not judged"}
    (element,) = ElementTree.parse(junit).getroot()
    assert element.get("errors") == "1" and said in junit.read_text()
    (invocation,) = json.loads(log.read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert said in invocation["toolExecutionNotifications"][-1]["message"]["text"]

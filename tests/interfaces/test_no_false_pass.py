"""Ways to try to get exit code 0 without a comparison. None works.

The tables are pure data where that is possible. ``test_unjudged.py`` gives the command models and arguments
with which nothing can be compared.
"""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import torch
from torch import nn

import exportdiff
from exportdiff.cli import main
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.confirmation import SecondJudgement
from exportdiff.interfaces.checking.found import FAIL_ON, FailOn, Found
from exportdiff.interfaces.checking.report import Report, assembled
from exportdiff.interfaces.python_api import assert_passes
from exportdiff.interfaces.reports.junit import suite
from exportdiff.interfaces.reports.sarif import sarif
from exportdiff.judging.results import PathResult, Status, Unjudged
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding

MODULE, UNFLATTEN = map(parse, ("nonstrict:module", "nonstrict:unflatten"))
KNOWN = (KnownCause("a_fix", "an_entry"),)
INSIDE = replace(make_finding("names", check="structure"), path=MODULE, shown_on=(MODULE,))
WRONG = replace(make_finding("value"), path=MODULE, shown_on=(MODULE,))

FOUND: dict[str, tuple[Found, ...]] = {
    "nothing": (),
    "harmless": (Found(INSIDE, KNOWN),),
    "accepted": (Found(WRONG, accepted=True),),
    "harmless and accepted": (Found(INSIDE, KNOWN), Found(WRONG, KNOWN, accepted=True)),
}
"""Findings that do not fail."""

NOT_COMPARED: dict[str, Callable[[bool], Report]] = {
    "refused": lambda found: _report(PathResult(MODULE, _status(found), "data-dependent", outcome="refused")),
    "refused on two paths": lambda found: _report(
        PathResult(MODULE, _status(found), "data-dependent", outcome="refused"),
        PathResult(UNFLATTEN, "unsupported", "dynamo-unsupported", outcome="refused"),
    ),
    "a crash that a limit excuses": lambda found: _report(
        PathResult(MODULE, "finding" if found else "ok", "a-limit", ("a-limit",), outcome="refused")
    ),
    "no call": lambda found: _report(PathResult(MODULE, "finding" if found else "ok", "no call")),
    "refused, and not judged": lambda found: _report(
        PathResult(MODULE, _status(found), "data-dependent", outcome="refused"),
        PathResult(UNFLATTEN, "ok", "no call"),
    ),
    "refused, and no time": lambda found: replace(
        _report(PathResult(MODULE, _status(found), "data-dependent", outcome="refused")),
        unjudged=(Unjudged(UNFLATTEN, "the time limit was reached"),),
    ),
    "no time": lambda found: replace(_report(), unjudged=(Unjudged(MODULE, "the time limit was reached"),)),
    "no path": lambda found: _report(),
    "eager raises": lambda found: replace(_report(), invalid="eager raised ValueError in call 0"),
    "stopped before the first path": lambda found: replace(_report(), stopped="interrupted"),
    "differs in what the report does not list": lambda found: _report(
        PathResult(UNFLATTEN, "finding", outcome="differs")
    ),
}
"""Reports without a comparison; the argument says whether a finding is on the first path."""


def _report(*paths: PathResult) -> Report:
    return Report("model.py:make", "2.13.0", paths)


def _status(found: bool) -> Status:
    return "finding" if found else "unsupported"


@pytest.mark.parametrize(("way", "found", "fail_on"), list(itertools.product(NOT_COMPARED, FOUND, FAIL_ON)))
def test_a_report_without_a_comparison_passes_nowhere(way: str, found: str, fail_on: FailOn) -> None:
    report = NOT_COMPARED[way](bool(FOUND[found])).with_found(FOUND[found])
    assert report.exit_code(fail_on) == 2
    assert not report.judged and report.why_unjudged()
    assert report.as_dict()["judged"] is False
    assert suite(report, fail_on).get("errors") == "1"
    assert not any(_passed(case) for case in suite(report, fail_on))
    (run,) = sarif(report, Target.parse("json:loads"), fail_on)["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    with pytest.raises(AssertionError, match="was not judged"):
        assert_passes(report, fail_on)


def _passed(case: ElementTree.Element) -> bool:
    return case.tag == "testcase" and not len(case)


def test_a_run_that_ends_before_the_first_path_and_one_whose_findings_vanish() -> None:
    assert assembled("m", [MODULE], stopped="the time limit was reached").exit_code() == 2
    once = assembled(
        "m", [MODULE], (PathResult(MODULE, "finding", outcome="differs"),), [replace(WRONG, path=MODULE)]
    )
    assert (once.exit_code(), SecondJudgement(once).finished().exit_code()) == (1, 2)


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


class Nothing(nn.Module):
    pass


X = (torch.ones(2, 2),)
ROWS = {"x": {0: torch.export.Dim("rows", min=2, max=8)}}
MISUSE: dict[str, Callable[[], Report]] = {
    "no path": lambda: exportdiff.compare(Plain(), X, paths=[]),
    "no such path": lambda: exportdiff.compare(Plain(), X, paths="nothing:*"),
    "no such device": lambda: exportdiff.compare(Plain(), X, device="tpu"),
    "arguments in a list": lambda: exportdiff.compare(Plain(), [torch.ones(2)]),  # type: ignore[arg-type]
    "no arguments": lambda: _compare(Plain(), ()),
    "a number": lambda: exportdiff.compare(3),  # type: ignore[arg-type]
    "no forward": lambda: _compare(Nothing(), X),
    "refused": lambda: _compare(Branches(), X),
    "refused, with dynamic sizes": lambda: _compare(Branches(), X, dynamic_shapes=ROWS),
    "refused, with fingerprints": lambda: _compare(Branches(), X, accept=("0123456789",)),
    "no baseline": lambda: _compare(Plain(), X, accept="gone.json"),
    "a probe without dynamic sizes": lambda: _compare(Plain(), X, probes=[((torch.ones(3, 2),), {})]),
    "a probe outside of the range": lambda: _compare(
        Plain(), X, dynamic_shapes=ROWS, probes=[((torch.ones(9, 2),), {})]
    ),
    "a probe on which eager raises": lambda: _compare(
        nn.Linear(2, 2),
        X,
        dynamic_shapes={"input": {1: torch.export.Dim.AUTO}},
        probes=[((torch.ones(2, 3),), {})],
    ),
    "probes that are no list": lambda: _compare(Plain(), X, probes=3),
    "dynamic shapes that are a number": lambda: _compare(Plain(), X, dynamic_shapes=3),
    "dynamic shapes of another argument": lambda: _compare(Plain(), X, dynamic_shapes={"y": {0: 2}}),
    "on the meta device": lambda: _compare(nn.Linear(2, 2, device="meta"), X),
    "lazy": lambda: _compare(nn.LazyLinear(2), X),
}


def _compare(*given: object, **more: object) -> Report:
    return exportdiff.compare(*given, paths="nonstrict:*", **more)  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_known_bugs")
@pytest.mark.parametrize("way", MISUSE)
def test_compare_passes_no_model_that_it_cannot_judge(way: str) -> None:
    try:
        report = MISUSE[way]()
    except exportdiff.UsageError as error:
        assert str(error)
    else:
        assert report.exit_code() == 2 and report.why_unjudged()


REFUSED_AND_HARMLESS = """\
import torch

class Branches(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x

def make():
    return Branches(), (torch.ones(2, 2),)

dynamic_shapes = {"x": {0: torch.export.Dim.DYNAMIC}}
"""


def test_a_refused_model_is_2_in_all_that_the_command_writes(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, baseline, junit = tmp_path / "model.py", tmp_path / "accepted.json", tmp_path / "junit.xml"
    file.write_text(REFUSED_AND_HARMLESS)
    command = ["check", f"{file}:make", "--paths", "nonstrict:*", "--junit", str(junit), "--json"]
    assert main([*command, "--write-baseline", str(baseline)]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["outcomes"] == {"agrees": 0, "differs": 0, "refused": 2, "not judged": 0}
    assert {each["reason"] for each in document["paths"].values()} == {"data-dependent"}
    assert all("data-dependent expression" in each["message"] for each in document["paths"].values())
    assert not baseline.exists()
    (element,) = ElementTree.parse(junit).getroot()
    assert (element.get("errors"), element.get("skipped")) == ("1", "2")

"""SARIF: what code hosts are told about a model, checked against what the standard demands."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from exportdiff.cli import main
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.found import FailOn, Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.reports.sarif import sarif
from exportdiff.judging.results import PathResult, Unjudged
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.paths import parse
from support.evidence_of import make_finding


def thing(required: str = "", **properties: object) -> dict[str, object]:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def several(item: object) -> dict[str, object]:
    return {"type": "array", "items": item}


TEXT = {"type": "string", "minLength": 1}
ANYTHING = {"type": "object"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = thing("text", text=TEXT)
PLACE = thing(
    physicalLocation=thing(
        "artifactLocation",
        artifactLocation=thing("uri", uri={"type": "string", "format": "uri-reference"}),
        region=thing("startLine", startLine={"type": "integer", "minimum": 1}),
    ),
    logicalLocations=several(thing(name=TEXT, kind=TEXT, fullyQualifiedName=TEXT)),
)
RESULT = thing(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    kind={"enum": ["pass", "open", "informational", "notApplicable", "review", "fail"]},
    message=MESSAGE,
    locations=several(PLACE),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    suppressions=several(thing("kind", kind={"enum": ["inSource", "external"]}, justification=TEXT)),
    properties=ANYTHING,
)
RUN = thing(
    "tool",
    tool=thing(
        "driver",
        driver=thing(
            "name", name=TEXT, version=TEXT, rules=several(thing("id", id=TEXT, shortDescription=MESSAGE))
        ),
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=several(RESULT),
    invocations=several(
        thing(
            "executionSuccessful",
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=several(thing("message", level=LEVEL, message=MESSAGE)),
        )
    ),
    properties=ANYTHING,
)
SCHEMA = thing("version runs", **{"$schema": TEXT}, version={"const": "2.1.0"}, runs=several(RUN))
"""The part of the standard (SARIF 2.1.0, section 3) that the log uses, and nothing else."""

MODULE, UNFLATTEN = parse("nonstrict:module@cpu"), parse("nonstrict:unflatten@cpu")
WRONG = Found(make_finding("value", message="output differs <by> 1"))
BREAKS = Found(make_finding("lower", kind="crash", stage="lower"), (KnownCause("a_fix", "an_entry"),))
INSIDE = Found(make_finding("names", check="structure"))
REPORT = Report(
    "model.py:make",
    "2.13.0",
    (PathResult(MODULE, "ok", outcome="agrees"), PathResult(UNFLATTEN, "finding", outcome="differs")),
    (Unjudged(parse("strict:module@cpu"), "no time"),),
    (WRONG, BREAKS, INSIDE),
)
FILE = """\
import torch


def helper():
    def make(): ...


def make():
    return torch.nn.Identity(), (torch.ones(1),)
"""


@pytest.fixture
def target(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("model.py").write_text(FILE)
    return Target.parse("model.py:make")


def valid(document: dict[str, Any]) -> dict[str, Any]:
    """Return the run of a log that the schema accepts."""
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


def test_the_schema_refuses_what_is_no_sarif() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert not validator.is_valid({"version": "2.1.0", "runs": [{"results": []}]})
    assert not validator.is_valid({"version": "2.0.0", "runs": []})


def test_each_finding_is_a_result_at_the_line_of_the_factory(target: Target) -> None:
    run = valid(sarif(REPORT, target, "any"))
    results = run["results"]
    assert [(each["ruleId"], each["level"]) for each in results] == [
        ("wrong", "error"),
        ("breaks", "error"),
        ("inside", "warning"),
    ]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in results)
    place = results[0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "model.py"}, "region": {"startLine": 8}}
    assert "output differs <by> 1" in results[0]["message"]["text"]
    assert "exportdiff check model.py:make --paths 'nonstrict:unflatten'" in results[0]["message"]["text"]
    assert "known bug of torch: an_entry\n  read more: an_entry" in results[1]["message"]["text"]
    assert results[0]["partialFingerprints"] == {"exportdiff/v1": WRONG.finding.fingerprint}
    (left,) = run["invocations"][0]["toolExecutionNotifications"]
    assert left["message"]["text"] == "strict:module@cpu was not judged: no time"


@pytest.mark.parametrize(
    ("fail_on", "levels"),
    [("new", ["error", "note", "warning"]), ("silent", ["error", "note", "note"])],
)
def test_what_does_not_fail_is_a_note(target: Target, fail_on: FailOn, levels: list[str]) -> None:
    assert [each["level"] for each in valid(sarif(REPORT, target, fail_on))["results"]] == levels


def test_what_the_baseline_accepts_is_suppressed(target: Target) -> None:
    accepted = replace(REPORT, found=(replace(WRONG, accepted=True), INSIDE))
    one, other = valid(sarif(accepted, target, "any"))["results"]
    assert one["suppressions"] == [{"kind": "external", "justification": "the baseline accepts it"}]
    assert one["level"] == "note" and "suppressions" not in other


def test_a_model_that_was_not_judged_is_an_error_of_the_run(target: Target) -> None:
    (invocation,) = valid(sarif(Report("model.py:make", "2.13.0", invalid="eager raises"), target, "any"))[
        "invocations"
    ]
    assert invocation["executionSuccessful"] is False
    assert [each["level"] for each in invocation["toolExecutionNotifications"]] == ["error"]


def test_a_module_is_found_without_importing_it(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    package = pathlib.Path("package")
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit(9)\n")
    (package / "module.py").write_text("make = lambda: None\n")
    monkeypatch.syspath_prepend(pathlib.Path.cwd())
    (result, *_) = valid(sarif(REPORT, Target.parse("package.module:make"), "any"))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("package/module.py", 1)
    (result, *_) = valid(sarif(REPORT, Target.parse("nowhere.module:make"), "any"))["results"]
    assert "physicalLocation" not in result["locations"][0]


def test_check_writes_it(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "model.py:make", "--paths", "nonstrict:module", "--sarif", "out.sarif"]) == 0
    run = valid(json.loads(pathlib.Path("out.sarif").read_text()))
    assert run["results"] == [] and run["invocations"][0]["executionSuccessful"] is True
    capsys.readouterr()

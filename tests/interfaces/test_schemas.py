"""What exportdiff writes fits the JSON Schemas that it ships, and the schemas describe every key."""

from __future__ import annotations

import json
import pathlib

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from exportdiff.core.finding import Finding
from exportdiff.core.model_identity import ModelIdentity
from exportdiff.interfaces.checking.baseline import FORMAT, write_baseline
from exportdiff.interfaces.checking.found import Found
from exportdiff.interfaces.checking.report import Report
from exportdiff.interfaces.reports.summary import summary_document
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.interfaces.schemas import schema, schema_names
from exportdiff.judging.checks.compare.leaves import compare_leaf
from exportdiff.judging.checks.outputs import OutputLeaf, PathRaised
from exportdiff.judging.results import PathResult, Unjudged
from exportdiff.known.attribution.explained import KnownCause
from exportdiff.runtime.observing.failure import Failure
from exportdiff.runtime.observing.python_values import python_value
from exportdiff.runtime.paths import parse
from support.folders import CORPORA, ROOT
from support.schemas import validator

MODULE, STRICT, UNFLATTEN = map(parse, ("nonstrict:module", "strict:module", "nonstrict:unflatten"))


def failing() -> Report:
    difference = compare_leaf(python_value(1.0), python_value(float("nan")))
    assert difference is not None
    value = Finding(UNFLATTEN, "outputs", OutputLeaf(0, "[0]", "fresh", difference))
    crash = Finding(MODULE, "outputs", PathRaised(Failure("run", ("builtins.KeyError",), "no", ()), None))
    return Report(
        "models.py:make",
        "2.13.0",
        (
            PathResult(MODULE, "finding"),
            PathResult(UNFLATTEN, "finding", excused=("a-limit",)),
            PathResult(STRICT, "unsupported", reason="a-refusal"),
        ),
        (Unjudged(parse("draft:module"), "no time"),),
        (Found(value, (KnownCause("a_fix", "an_entry"),)), Found(crash, remark="no time")),
        model=ModelIdentity(str(ROOT / "models.py"), "make", "Net", "0123456789"),
    )


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_the_document_of_check_fits_its_schema() -> None:
    for report in (failing(), Report("models.py:make", "2.13.0", invalid="eager raised")):
        document = json.loads(json.dumps(report.as_dict()))
        validator(f"check-{document['format']}").validate(document)


def test_a_baseline_fits_its_schema(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "accepted.json"
    assert write_baseline(file, failing()) == 2

    def not_json(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    document = json.loads(file.read_text(), parse_constant=not_json)
    validator(f"baseline-{FORMAT}").validate(document)
    assert document["accepted"][0]["differences"][0]["at_most"] == {"absolute": "inf", "relative": "inf"}


def test_the_summary_of_a_campaign_without_programs_fits_its_schema() -> None:
    document = summary_document(Tally(ROOT, CORPORA))
    validator(f"summary-{document['format']}").validate(document)


def test_a_schema_allows_further_keys_and_demands_its_own() -> None:
    document = failing().as_dict()
    validator("check-1", strict=False).validate({**document, "later": 1})
    for wrong in ({**document, "format": 2}, {**document, "judged": "yes"}, {"format": 1}):
        with pytest.raises(ValidationError):
            validator("check-1", strict=False).validate(wrong)
    del document["findings"][0]["fingerprint"]
    with pytest.raises(ValidationError, match="fingerprint"):
        validator("check-1", strict=False).validate(document)
    with pytest.raises(ValidationError, match="later"):
        validator("check-1").validate({**failing().as_dict(), "later": 1})

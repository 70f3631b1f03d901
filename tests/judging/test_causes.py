"""The rule for causes and consequences, on evidence made by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from exportdiff.core.finding import Evidence, Finding, Kind, Relation, Stage
from exportdiff.core.path import Path
from exportdiff.judging.causes import Difference, PathFindings, folded, over_paths, path_findings

MODULE, UNFLATTEN = Path("nonstrict", "module"), Path("nonstrict", "unflatten")
STRICT = Path("strict", "module")


@dataclass(frozen=True)
class Made(Evidence):
    name: str
    relation: Relation
    call: int | None = None
    kind: Kind = "mismatch"
    property_: str = ""
    stage: Stage = "run"

    @property
    def aspect(self) -> str:
        return self.property_

    def words(self) -> tuple[str, ...]:
        return (self.name,)

    def lines(self) -> tuple[str, ...]:
        return (self.name,)


def graph(name: str = "graph") -> Made:
    return Made(name, Relation.POSSIBLE_CAUSE)


def value(call: int | None = 0, name: str = "value") -> Made:
    return Made(name, Relation.IN_CALL, call, property_="value")


def crash(call: int | None = 0) -> Made:
    return Made("crash", Relation.IN_CALL, call, kind="crash")


def identity(call: int = 0) -> Made:
    return Made("identity", Relation.IN_CALL_WEAK, call)


MISSING = Made("missing", Relation.MISSING_STATE)
HOOK = Made("hook", Relation.INDEPENDENT)
SPLIT = Made("split", Relation.SPOILS_CALLS)
MEMORY = Made("memory", Relation.SPOILS_VALUES)
CHANGED = Made("changed", Relation.SPOILS_START)


def judge(*evidence: Made, path: Path = MODULE, check: str = "a check") -> PathFindings:
    return path_findings([Difference(check, each) for each in evidence], path)


def names(finding: Finding) -> list[str]:
    assert isinstance(finding.evidence, Made)
    return [finding.evidence.name, *(each.evidence.words()[0] for each in finding.consequences)]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        # Each difference of these kinds is a finding.
        ((HOOK, MISSING, SPLIT), [["hook"], ["missing"], ["split"]]),
        # The first difference in a call is the finding, and what is before the first call is earlier.
        ((value(1, "late"), value(0)), [["value", "late"]]),
        ((value(0), value(None, "start")), [["start", "value"]]),
        # Within a call the order of the checks decides, with the weak differences last.
        ((identity(), value()), [["value", "identity"]]),
        ((identity(0), value(1)), [["identity", "value"]]),
        # What may be the cause is a consequence, the first one; alone, it is a finding.
        ((value(0), value(1, "late"), graph()), [["value", "graph", "late"]]),
        ((graph("one"), graph("two")), [["one", "two"]]),
        # A missing name explains no difference of values, and may explain an exception.
        ((MISSING, value()), [["value"], ["missing"]]),
        ((MISSING, crash()), [["crash", "missing"]]),
        # A difference that spoils the calls is the finding in place of the first difference in a call.
        ((SPLIT, value(0), value(1, "late"), graph()), [["split", "value", "graph", "late"]]),
        ((HOOK, CHANGED, value(None)), [["hook"], ["changed", "value"]]),
        ((CHANGED, value(0)), [["value"], ["changed"]]),
        ((SPLIT, value(None)), [["value"], ["split"]]),
        ((SPLIT, crash()), [["crash"], ["split"]]),
        ((SPLIT, graph()), [["graph"], ["split"]]),
        ((MEMORY, value()), [["memory", "value"]]),
        ((MEMORY, identity()), [["identity"], ["memory"]]),
    ],
)
def test_findings_and_consequences(evidence: tuple[Made, ...], expected: list[list[str]]) -> None:
    assert [names(finding) for finding in judge(*evidence).findings] == expected


def test_memory_explains_all_that_the_aliasing_check_sees() -> None:
    seen = [Difference("sharing", MEMORY), Difference("aliasing", identity())]
    assert [names(finding) for finding in path_findings(seen, MODULE).findings] == [["memory", "identity"]]


def test_a_possible_cause_is_no_finding_on_another_path() -> None:
    explained, alone = judge(value(), graph()), judge(graph(), path=UNFLATTEN)
    assert explained.possible_causes == {("a check", "mismatch", "graph")}
    findings = over_paths([(MODULE, explained), (UNFLATTEN, alone)])
    assert [names(finding) for finding in findings] == [["value", "graph"]]
    strict = judge(graph(), path=STRICT)
    findings = over_paths([(MODULE, explained), (STRICT, strict)])
    assert [names(finding) for finding in findings] == [["value", "graph"], ["graph"]]


def test_one_signature_is_one_finding_with_all_its_paths_and_evidence() -> None:
    other = Made("hook", Relation.INDEPENDENT, property_="another")
    here = judge(HOOK, other).findings
    assert [names(finding) for finding in here] == [["hook", "hook"]]
    (finding,) = folded((*here, *judge(HOOK, path=UNFLATTEN).findings))
    assert finding.shown_on == (MODULE, UNFLATTEN)
    assert [each.evidence for each in finding.consequences] == [other]


def test_what_shows_in_a_probe_has_a_signature_of_its_own() -> None:
    seen = [Difference("outputs", value(3))]
    (finding,) = path_findings(seen, MODULE, frozenset({3})).findings
    assert finding.signature == ("outputs", "mismatch", "value", "probe")
    assert finding.message.splitlines()[-1].startswith("call 3 is a probe")


def test_nothing_is_cut() -> None:
    (finding,) = judge(*(value(call, f"value {call}") for call in range(30))).findings
    assert len(finding.consequences) == 29

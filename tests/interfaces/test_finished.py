"""What CI systems are told about a campaign: Markdown and JUnit XML."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from exportdiff.cli import main
from exportdiff.fuzzing.campaign.events import (
    CampaignFinished,
    Event,
    FindingFound,
    HarnessError,
    TorchesCompared,
)
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.ci_files import CiFiles
from exportdiff.interfaces.reports.displayed_findings import displayed_findings
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.junit import campaign_suite
from exportdiff.interfaces.reports.markdown import code, escaped, fenced, markdown
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.known.attribution.classification import Classification
from support import handmade
from support.evidence_of import make_finding
from support.handmade import AGAIN, MASKED, NEW, a_campaign, started, write


def summary(tmp_path: pathlib.Path, events: list[Event]) -> str:
    folder = write(tmp_path, events)
    told = CampaignReport.of([folder])
    return markdown(told, displayed_findings(told, [folder]))


def suite(tmp_path: pathlib.Path, events: list[Event]) -> ElementTree.Element:
    folder = write(tmp_path, events)
    told = CampaignReport.of([folder])
    return campaign_suite(told, displayed_findings(told, [folder]))


def test_the_summary_has_the_verdict_what_to_paste_and_the_counts(tmp_path: pathlib.Path) -> None:
    text = summary(tmp_path, [*a_campaign()[:-1], handmade.minimized(), a_campaign()[-1]])
    assert text.startswith("## 2 new findings and 1 masked by known bugs in 40 programs.\n")
    assert "### outputs mismatch: call 0: output differs in value\n" in text
    assert "```\ncall 0: output differs in value\neager <1.0> & here 2.0\n```\n" in text
    assert "8 programs, first 3; on `nonstrict:unflatten@cpu` and 1 more path" in text
    assert f"```sh\npython {tmp_path}/findings/{NEW.fingerprint}.py\n```" in text
    assert "<details open><summary>Program</summary>\n\n```python\nx\n```\n" in text
    assert "<details><summary>Masked by known bugs: 1</summary>\n\n- `state mismatch: " in text
    assert "| findings | 2 new, 1 masked, 0 regressions of fixes |\n" in text
    assert "| refused by nonstrict export | 1 of 40 |\n" in text
    assert "| torch | 2.13.0, Python 3.11.7 |\n| seed | 7, profile default |\n" in text


def test_the_summary_of_a_bad_campaign_says_why(tmp_path: pathlib.Path) -> None:
    text = summary(tmp_path, [started(), HarnessError(0.2, 1, "x"), CampaignFinished(0.5, "errors")])
    assert text.startswith("## No program was judged.\n")
    assert "> [!WARNING]\n> exportdiff itself failed 1 time: see events.ndjson.\n" in text


def worse_night() -> list[Event]:
    """Return the events of a campaign with regressions of torch and of a fix, and nothing else."""
    bad = make_finding("size", path=handmade.RELOAD)
    wrong = FindingFound(3.0, bad, 1, "y = 2\n", handmade.REPRO, Classification("regression", ("break_it",)))
    worse = TorchesCompared(
        4.0,
        "torch regression",
        NEW.fingerprint,
        handmade.MODULE,
        (),
        (),
        1,
        finding=NEW,
        repro=handmade.REPRO,
    )
    return [replace(started(), against="2.12.0"), handmade.done(1, bad.fingerprint), wrong, worse]


def test_regressions_are_told_too(tmp_path: pathlib.Path) -> None:
    text = summary(tmp_path / "a", worse_night())
    assert "### Regression of torch: outputs mismatch: call 0: output differs in value\n" in text
    assert "- Regression of a fix (break_it): `outputs mismatch: m`" in text
    element = suite(tmp_path / "b", worse_night())
    said = {case.get("name"): case.findall("failure") for case in element.findall("testcase")}
    assert [each.get("message") for each in said[handmade.MODULE]] == [f"torch regression: {NEW.title}"]
    assert [each.get("message") for each in said[handmade.RELOAD]] == ["regression: outputs mismatch: m"]


def test_long_programs_and_many_findings_are_counted(tmp_path: pathlib.Path) -> None:
    several = [make_finding(f"word{number}") for number in range(13)]
    keys = [finding.fingerprint for finding in several]
    found = [FindingFound(1.0, finding, 1, "x\n" * 61, handmade.REPRO) for finding in several]
    text = summary(tmp_path, [started(), handmade.done(1, *keys), *found])
    assert text.count("\n### ") == 10 and "And 3 more findings in `findings/`." in text
    assert "<summary>Program" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x", "`x`"), ("a `b` c", "`` a `b` c ``"), ("a ``b``", "``` a ``b`` ```"), ("a\nb", "`a b`")],
)
def test_code_in_a_line(text: str, expected: str) -> None:
    assert code(text) == expected


def test_blocks_and_headings_hold_any_text() -> None:
    assert fenced("a\n```\nb") == "````\na\n```\nb\n````"
    assert escaped("a*b_<c>|d`\ne") == r"a\*b\_\<c\>\|d\` e"


def test_junit_has_a_case_for_each_path(tmp_path: pathlib.Path) -> None:
    element = suite(tmp_path, a_campaign())
    assert {name: element.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    failures = {case.get("name"): case.findall("failure") for case in element.findall("testcase")}
    assert [len(failures[path]) for path in (handmade.MODULE, handmade.UNFLATTEN, handmade.RELOAD)] == [
        0,
        2,
        1,
    ]
    new, masked = failures[handmade.UNFLATTEN]
    assert new.get("message") == f"new: {NEW.title}" and masked.get("message") == f"masked: {MASKED.title}"
    assert new.text is not None and f"findings/{NEW.fingerprint}.py\n\nx = 1\n" in new.text
    assert AGAIN.signature == NEW.signature


def test_junit_skips_paths_without_programs_and_reports_errors(tmp_path: pathlib.Path) -> None:
    element = suite(tmp_path, [started(), handmade.done(1, refused=True), HarnessError(2.0, 2, "x")])
    skipped = {case.get("name"): case.find("skipped") for case in element.findall("testcase")}
    assert [
        None if (why := skipped[path]) is None else why.text for path in (handmade.MODULE, handmade.RELOAD)
    ] == ["torch refuses every program", "no program ran on it"]
    assert element.get("errors") == "1" and skipped["campaign"] is None


def test_a_running_campaign_and_a_finished_folder_write_the_same(tmp_path: pathlib.Path) -> None:
    folder = write(tmp_path / "now", a_campaign())
    live = CampaignReport(Tally(folder.root))
    named = CiFiles(live, folder, tmp_path / "live.md", tmp_path / "live.xml")
    for event in a_campaign():
        live(event)
        named(event)
    names = [str(tmp_path / name) for name in ("later.md", "later.xml", "page.html")]
    command = ["report", str(folder.root), "--summary", names[0], "--junit", names[1], "--out", names[2]]
    assert main(command) == 0
    for kind in ("md", "xml"):
        assert (tmp_path / f"live.{kind}").read_text() == (tmp_path / f"later.{kind}").read_text()
    (read,) = ElementTree.parse(tmp_path / "live.xml").getroot()
    assert read.get("name") == "exportdiff fuzz --seed 7"


@pytest.mark.parametrize("option", ["--summary", "--junit"])
def test_what_cannot_be_written_is_said_before_the_campaign(
    option: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    folder = write(out, a_campaign())
    for file, said in ((tmp_path / "no" / "x", "there is no folder"), (tmp_path, "is a folder; name a file")):
        assert main(["fuzz", "--examples", "1", "--out", str(out), option, str(file)]) == 2
        assert said in capsys.readouterr().err
    # Nothing was lost.
    assert len(folder.log.read_text().splitlines()) == len(a_campaign())


def test_a_short_campaign_writes_them(tmp_path: pathlib.Path) -> None:
    files = [tmp_path / "out" / "summary.md", tmp_path / "report.xml"]
    options = ["--paths", "nonstrict:module", "--workers", "1", "--minimize", "0", "--known-every", "0"]
    options += ["--out", str(tmp_path / "out"), "--summary", str(files[0]), "--junit", str(files[1])]
    assert main(["fuzz", "--examples", "2", *options]) in (0, 1)
    assert " in 2 programs.\n" in files[0].read_text()
    told = CampaignReport.of([Folder(tmp_path / "out")])
    assert told.tally.started is not None and told.tally.started.environment is not None
    where = told.tally.started.environment
    assert where.began.endswith("+00:00") and where.exportdiff and where.processors >= 1
    (element,) = ElementTree.parse(files[1]).getroot()
    assert element.get("tests") == "1"


def test_no_control_characters_reach_xml(tmp_path: pathlib.Path) -> None:
    bad = make_finding("value", message="a\x00b")
    element = suite(
        tmp_path,
        [started(), handmade.done(1, bad.fingerprint), FindingFound(1.0, bad, 1, "x\n", handmade.REPRO)],
    )
    text = ElementTree.tostring(element, encoding="unicode")
    assert "ab\n$ python" in text and ElementTree.fromstring(text).get("failures") == "1"

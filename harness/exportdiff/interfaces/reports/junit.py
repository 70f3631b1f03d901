"""Results as JUnit XML for CI systems, with a test case for each path: of a model, or of a campaign."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from exportdiff.interfaces.output_files import write_text
from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Sequence

    from exportdiff.interfaces.checking.found import FailOn, Found
    from exportdiff.interfaces.checking.report import Report
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.displayed_findings import DisplayedFinding


def write_junit(file: pathlib.Path, reports: Sequence[Report], fail_on: FailOn) -> None:
    """Write one test suite for each model. Raises UsageError if the file cannot be written."""
    write_suites(file, (suite(report, fail_on) for report in reports))


def write_suites(file: pathlib.Path, suites: Iterable[ET.Element]) -> None:
    """Write test suites. Raises UsageError if the file cannot be written."""
    root = ET.Element("testsuites", name="exportdiff")
    root.extend(suites)
    ET.indent(root)
    write_text(file, ET.tostring(root, encoding="utf-8", xml_declaration=True).decode())


def suite(report: Report, fail_on: FailOn) -> ET.Element:
    """Return the test suite of one model.

    A finding that fails is a failure on each of its paths. Another path that torch refuses or that was not
    judged is skipped. A model that was not judged is an error.
    """
    element = _suite(report.name, torch=report.torch)
    outcomes = report.outcomes
    for each in outcomes.paths:
        case = ET.SubElement(element, "testcase", classname=report.name, name=str(each.path))
        result = each.case_result(fail_on)
        if result == "failure":
            for found in each.failing(fail_on):
                why = "\n".join(KnownBugLines(None).of(found))
                _add(case, "failure", _headline(found), f"{found.finding.message}\n{why}".strip())
        elif result == "skipped":
            _add(case, "skipped", f"{each.outcome}: {each.reason}", each.message)
    if not outcomes.judged:
        case = ET.SubElement(element, "testcase", classname=report.name, name="judged")
        _add(case, "error", f"not judged: {report.why_unjudged()}", report.why_unjudged())
    return _counted(element)


def campaign_suite(campaign: CampaignReport, found: Sequence[DisplayedFinding]) -> ET.Element:
    """Return the test suite of a campaign.

    A finding that fails is a failure on each of its paths. A path on which no program ran, or on which torch
    refused all programs, is skipped. An error of exportdiff itself is an error.
    """
    tally = campaign.tally
    seed = tally.started.seed if tally.started is not None else 0
    name = f"exportdiff fuzz --seed {seed}"
    element = _suite(name, torch=campaign.torch, programs=str(tally.examples))
    element.set("time", f"{campaign.last:.3f}")
    shown = {path for each in found for path in each.paths}
    for path in dict.fromkeys((*tally.paths, *sorted(shown))):
        case = ET.SubElement(element, "testcase", classname=name, name=path)
        for each in found:
            if path in each.paths:
                text = f"{each.finding.message}\n$ {each.command}\n\n{each.texts.source}"
                _add(case, "failure", f"{each.kind}: {each.finding.title}", text)
        counts = tally.paths.get(path)
        if path not in shown and (counts is None or counts.runs == counts.unsupported):
            why = "torch refuses every program" if counts and counts.runs else "no program ran on it"
            _add(case, "skipped", why, why)
    if tally.harness_errors or not tally.judged:
        case = ET.SubElement(element, "testcase", classname=name, name="campaign")
        failed = "exportdiff itself failed: see events.ndjson"
        why = failed if tally.harness_errors else "no program was judged"
        _add(case, "error", why, why)
    return _counted(element)


def _suite(name: str, **properties: str) -> ET.Element:
    element = ET.Element("testsuite", name=name)
    parent = ET.SubElement(element, "properties")
    for each, value in properties.items():
        ET.SubElement(parent, "property", name=each, value=value)
    return element


def _counted(element: ET.Element) -> ET.Element:
    """Set the attributes of a test suite that count its cases."""
    cases = element.findall("testcase")
    element.set("tests", str(len(cases)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    return element


def _headline(found: Found) -> str:
    finding = found.finding
    known = ", known bug of torch" if found.known else ""
    return f"{finding.check} {finding.kind}{known}: {finding.evidence.headline}"


def _add(case: ET.Element, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, kind, message=_printable(message)).text = _printable(text)


def _printable(text: str) -> str:
    """Leave out the characters that XML 1.0 forbids."""
    return "".join(each for each in text if each in "\t\n\r" or each >= " ")

"""The report on models as JUnit XML: a test case for each path, as CI systems show them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from harness.equivalence.report import FailOn, Found, Report


def write_junit(file: pathlib.Path, reports: Sequence[Report], fail_on: FailOn) -> None:
    """Write one test suite for each model. Raises UsageError if the file cannot be written."""
    root = ET.Element("testsuites", name="exportdiff")
    for report in reports:
        root.append(suite(report, fail_on))
    ET.indent(root)
    try:
        ET.ElementTree(root).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None


def suite(report: Report, fail_on: FailOn) -> ET.Element:
    """Return the test suite of one model.

    A finding that fails is a failure on each of its paths; a path that torch refuses, or that cannot
    be judged, is skipped; a model that was not judged is an error.
    """
    element = ET.Element("testsuite", name=report.name)
    ET.SubElement(ET.SubElement(element, "properties"), "property", name="torch", value=report.torch)
    failing = report.failing(fail_on)
    for result in report.paths:
        case = ET.SubElement(element, "testcase", classname=report.name, name=str(result.path))
        for found in failing:
            if result.path in found.finding.shown_on:
                _add(case, "failure", _headline(found), found.finding.message)
        if result.status == "unsupported":
            _add(case, "skipped", f"torch refuses it: {result.reason}", result.message)
    for left in report.unjudged:
        case = ET.SubElement(element, "testcase", classname=report.name, name=str(left.path))
        _add(case, "skipped", f"not judged: {left.reason}", left.reason)
    if not report.judged:
        case = ET.SubElement(element, "testcase", classname=report.name, name="judged")
        _add(case, "error", f"not judged: {report.why_unjudged()}", report.why_unjudged())
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

"""The report on a model as SARIF 2.1.0, which code hosts show next to the lines of the model's file.

The specification: Static Analysis Results Interchange Format (SARIF) Version 2.1.0, OASIS Standard, 2020.
"""

from __future__ import annotations

import ast
import json
import pathlib
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from exportdiff.interfaces.output_files import write_text
from exportdiff.interfaces.reports.commands import check_command
from exportdiff.interfaces.reports.known_bug_lines import KnownBugLines

if TYPE_CHECKING:
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.core.target import Target
    from exportdiff.interfaces.checking.found import FailOn, Found, Meaning
    from exportdiff.interfaces.checking.report import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

LEVELS: dict[Meaning, str] = {"wrong": "error", "breaks": "error", "inside": "warning", "harmless": "note"}
"""The level of a finding that fails. A finding that does not fail is a note."""
RULES: dict[Meaning, str] = {
    "wrong": "Without an error, the exported model gives another result than eager, or export changes the "
    "model, the inputs or a setting such as grad mode.",
    "breaks": "The exported model raises an exception, or ends the process, where eager does not.",
    "inside": "Results are right, but the exported program differs from eager.",
    "harmless": "Results are right; a known bug of torch makes the exported program differ from eager.",
}
"""A rule for each meaning of a finding for the owner of the model."""


def write_sarif(file: pathlib.Path, report: Report, target: Target, fail_on: FailOn) -> None:
    """Write the report. Raises UsageError if the file cannot be written."""
    text = json.dumps(sarif(report, target, fail_on), indent=1, ensure_ascii=False)
    write_text(file, text + "\n")


def sarif(report: Report, target: Target, fail_on: FailOn) -> dict[str, Any]:
    """Return the document: one run, with a result for each finding: at the line that first differs from
    eager, or else at the function that makes the model."""
    where = _location(target)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "exportdiff",
                        "version": _version(),
                        "rules": [
                            {"id": meaning, "shortDescription": {"text": text}}
                            for meaning, text in RULES.items()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(each, report, where, fail_on) for each in report.found],
                "invocations": [_invocation(report)],
                "properties": {"torch": report.torch},
            }
        ],
    }


def _result(found: Found, report: Report, where: dict[str, Any], fail_on: FailOn) -> dict[str, Any]:
    finding = found.finding
    paths = [path.without_device for path in finding.shown_on]
    known = "".join(f"\n{line}" for line in KnownBugLines(None).of(found))
    command = check_command(report.name, finding.shown_on[0], report.given.options)
    result = {
        "ruleId": found.meaning,
        "ruleIndex": list(RULES).index(found.meaning),
        "level": LEVELS[found.meaning] if found.fails(fail_on) else "note",
        "kind": "fail",
        "message": {"text": f"{finding.title}\n{finding.message}\nOn {', '.join(paths)}{known}\n$ {command}"},
        "locations": [_first_difference(finding.first_difference) or where],
        "partialFingerprints": {"exportdiff/v1": finding.fingerprint},
        "properties": {
            "check": finding.check,
            "kind": finding.kind,
            "paths": list(map(str, finding.shown_on)),
            "rootCauses": [cause.root for cause in found.named],
        },
    }
    if found.accepted:
        result["suppressions"] = [{"kind": "external", "justification": "the baseline accepts it"}]
    return result


def _invocation(report: Report) -> dict[str, Any]:
    """Return whether the model was judged, and which paths were refused or not judged."""
    outcomes = report.outcomes
    notes = [
        {"level": "note", "message": {"text": f"{each.path} was {each.outcome}: {each.reason}"}}
        for each in (*outcomes.of("refused"), *outcomes.of("not judged"))
    ]
    if not outcomes.judged:
        notes.append({"level": "error", "message": {"text": f"not judged: {report.why_unjudged()}"}})
    return {"executionSuccessful": outcomes.judged, "toolExecutionNotifications": notes}


def _first_difference(place: FirstDifference | None) -> dict[str, Any] | None:
    """Return the line at which the path first differs from eager, if that is known."""
    if place is None or place.line is None or not pathlib.Path(place.file).is_file():
        return None
    named = {"name": place.module, "kind": "module"} if place.module else None
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(pathlib.Path(place.file))},
            "region": {"startLine": place.line},
        },
        **({"logicalLocations": [named]} if named else {}),
    }


def _location(target: Target) -> dict[str, Any]:
    """Return the place of the function that makes the model, with its file if it can be found."""
    named = {"name": target.name, "kind": "function", "fullyQualifiedName": target.written}
    file = _file(target.module)
    if file is None:
        return {"logicalLocations": [named]}
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(file)},
            "region": {"startLine": _line(file, target.name)},
        },
        "logicalLocations": [named],
    }


def _file(module: str) -> pathlib.Path | None:
    """Return the file of a module without importing it; None: there is no file."""
    if module.endswith(".py"):
        return pathlib.Path(module)
    parts = module.split(".")
    for folder in ("", *sys.path):
        stem = pathlib.Path(folder, *parts)
        for file in (stem.with_suffix(".py"), stem / "__init__.py"):
            if file.is_file():
                return file
    return None


def _uri(file: pathlib.Path) -> str:
    """Return a path relative to the current folder, as code hosts expect it; outside of it, a file URI."""
    full = file.resolve()
    here = pathlib.Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else full.as_uri()


def _line(file: pathlib.Path, name: str) -> int:
    """Return the line that defines a name at the top level of a file; 1 if there is none."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node.lineno
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(each, ast.Name) and each.id == name for each in targets):
            return node.lineno
    return 1


def _version() -> str:
    try:
        return version("exportdiff")
    except PackageNotFoundError:
        return "unknown"

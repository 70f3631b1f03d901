"""What writers need to know of a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.repro.templates.properties import PROPERTIES

if TYPE_CHECKING:
    from harness.findings import Finding


def words(finding: Finding) -> tuple[str, ...]:
    return finding.signature[2:]


def differing(finding: Finding) -> str:
    return next((w for w in finding.signature if w in PROPERTIES), "value")


def last_call(finding: Finding) -> int:
    """Return the number of the call in which a finding shows, as its file counts calls."""
    call = finding.call or 0
    # A model that is compiled gets its first call twice (harness/paths/run/compiled.py).
    return call - (finding.mode == "compile" and call > 1)


def error(finding: Finding) -> str:
    raised = re.search(r"raised (\w+)", finding.message)
    refused = re.search(r"^(\w+): ", finding.message, re.MULTILINE)
    found = raised or refused
    return found[1] if found else "Exception"


def missing_name(finding: Finding) -> str:
    found = re.search(r"(?:parameter|buffer|constant) ([\w.@]+)", finding.message)
    return found[1] if found else ""


def written_output(finding: Finding) -> str:
    output = re.search(r"a write to output(\S*)", finding.message)
    return output[1] if output else ""


def deviation_place(finding: Finding) -> str:
    named = re.search(r"in which (args|kwargs)(\S*) is ", finding.message)
    return {"args": "[0]", "kwargs": "[1]"}[named[1]] + named[2] if named else ""


def deviation_attribute(finding: Finding) -> tuple[str, str]:
    named = re.search(r"in which model\.(\S+) is (.+), not ", finding.message)
    return (named[1], named[2]) if named else ("training", "False")


def altered_deviation(finding: Finding) -> str:
    altered = re.search(r"^altered: (\S+)$", finding.message, re.MULTILINE)
    return altered[1] if altered else ""


def absent_module(finding: Finding) -> str:
    found = re.search(r"in a call of (\S+),", finding.message)
    return found[1] if found else ""

"""Which findings no entry of the corpus explains."""

from __future__ import annotations

import pathlib
from collections.abc import Collection, Sequence

from harness.case import Case
from harness.findings import Finding
from harness.judge.judge_case import judge_case
from harness.known.attribution import explain, knowledge
from harness.patching.fixes import applied

CORPORA = pathlib.Path(__file__).parents[1] / "corpora"


def new_findings(case: Case, findings: Sequence[Finding], tags: Collection[str] = ()) -> list[Finding]:
    """Return the findings that are in no entry.

    What shows nothing with all fixes held is known: which of the fixes it takes, a test need not find out.
    """
    if not findings:
        return []
    known = knowledge(CORPORA)
    with applied(known.fixes.values()):
        left = judge_case(case, tuple(dict.fromkeys(finding.path for finding in findings))).findings
    if not left:
        return []
    explained = explain(case, findings, tags, known)
    return [finding for finding in findings if finding.fingerprint not in explained]

from __future__ import annotations

import pytest

from harness.case import case_from_source
from harness.checks import CHECKS
from harness.faults import FAULTS, Fault
from harness.paths import Path, select_paths
from harness.verdict import judge

EVERY = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())


def test_every_check_has_a_fault_that_it_reports() -> None:
    assert {fault.check for fault in FAULTS.values()} == set(CHECKS)


@EVERY
def test_a_fault_says_what_it_breaks(fault: Fault) -> None:
    assert fault.why.endswith(".") and select_paths([fault.paths]) and "def make()" in fault.source


@EVERY
def test_reported_while_planted_and_never_else(fault: Fault) -> None:
    case = case_from_source(fault.source, fault.name)
    paths = select_paths([f"{fault.paths.partition(':')[0]}*"])
    with fault.plant():
        planted = judge(case, paths)
    assert planted.valid
    # One bug is one finding.
    assert [finding.check for finding in planted.findings] == [fault.check]
    assert Path.parse(planted.findings[0].path).matches(fault.paths)
    assert len(planted.findings[0].message.splitlines()) <= 10
    after = judge(case, paths)
    assert after.valid and after.findings == ()

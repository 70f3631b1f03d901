from __future__ import annotations

from dataclasses import replace

import pytest

from harness.case import case_from_source
from harness.checks import CHECKS
from harness.engine.detection import shown_by
from harness.faults import FAULTS, Fault, transforming
from harness.judge.verdict import judge
from harness.paths import EXPENSIVE, all_paths, core_paths, cost, select_paths
from harness.paths.transforms import TRANSFORMS

EVERY = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())


def test_every_check_has_a_fault_that_it_reports() -> None:
    assert {fault.check for fault in FAULTS.values()} == set(CHECKS)


@EVERY
def test_a_fault_says_what_it_breaks(fault: Fault) -> None:
    assert fault.why.endswith(".") and select_paths([fault.paths]) and "def make()" in fault.source


ROWS = {name: fault for name, fault in FAULTS.items() if vars(transforming).get(name) is not None}

CORE = {name: fault for name, fault in FAULTS.items() if name not in ROWS}


@pytest.mark.parametrize("fault", ROWS.values(), ids=ROWS.keys())
def test_what_breaks_one_transform_shows_on_the_paths_through_it_alone(fault: Fault) -> None:
    named = select_paths([fault.paths])
    paths = [path for path in all_paths() if cost(path) < EXPENSIVE or path in named]
    found = shown_by(fault, case_from_source(fault.source, fault.name), paths)
    assert {finding.check for finding in found} == {fault.check}
    assert all(finding.path in named for finding in found)


def test_every_row_of_the_table_has_a_fault_of_its_own() -> None:
    broken = {path for fault in ROWS.values() for path in select_paths([fault.paths])}
    transforms = {name for path in broken for name in path.transforms}
    assert set(TRANSFORMS) - transforms == {"pickle"}  # nothing that torch makes today can be pickled
    runners = {path.runner for path in broken if not path.transforms}
    assert runners == {"stages", "aot_eager", "inductor", "package"}


@pytest.mark.parametrize("fault", CORE.values(), ids=CORE.keys())
def test_reported_while_planted_and_never_else(fault: Fault) -> None:
    case = replace(case_from_source(fault.source, fault.name), thorough=True)
    modes = {path.mode for path in select_paths([fault.paths])}
    paths = [path for path in core_paths() if path.mode in modes]
    with fault.plant():
        planted = judge(case, paths)
    assert planted.valid
    # One check reports it, and where it breaks both paths in a way of its own, each once.
    assert {finding.check for finding in planted.findings} == {fault.check}
    assert len(planted.findings) <= len(paths)
    for finding in planted.findings:
        assert finding.path.matches(fault.paths)
        assert len(finding.message.splitlines()) <= 10
    after = judge(case, paths)
    assert after.valid and after.findings == ()

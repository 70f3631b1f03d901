"""Planted faults: the check that a fault names reports the fault, and no other check does."""

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

EVERY_FAULT = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())


def test_every_check_has_a_fault() -> None:
    assert {fault.check for fault in FAULTS.values()} == set(CHECKS)


@EVERY_FAULT
def test_every_fault_has_a_description_existing_paths_and_a_model(fault: Fault) -> None:
    assert fault.why.endswith(".") and select_paths([fault.paths]) and "def make()" in fault.source


OF_TRANSFORMS = {name: fault for name, fault in FAULTS.items() if vars(transforming).get(name) is not None}

OF_CORE_PATHS = {name: fault for name, fault in FAULTS.items() if name not in OF_TRANSFORMS}


@pytest.mark.parametrize("fault", OF_TRANSFORMS.values(), ids=OF_TRANSFORMS.keys())
def test_a_fault_of_one_transform_shows_only_on_paths_with_that_transform(fault: Fault) -> None:
    named = select_paths([fault.paths])
    paths = [path for path in all_paths() if cost(path) < EXPENSIVE or path in named]
    found = shown_by(fault, case_from_source(fault.source, fault.name), paths)
    assert {finding.check for finding in found} == {fault.check}
    assert all(finding.path in named for finding in found)


def test_every_transform_and_runner_has_its_own_fault() -> None:
    broken = {path for fault in OF_TRANSFORMS.values() for path in select_paths([fault.paths])}
    transforms = {name for path in broken for name in path.transforms}
    assert set(TRANSFORMS) - transforms == {"pickle"}  # torch cannot pickle any exported program today
    runners = {path.runner for path in broken if not path.transforms}
    assert runners == {"stages", "aot_eager", "inductor", "package"}


@pytest.mark.parametrize("fault", OF_CORE_PATHS.values(), ids=OF_CORE_PATHS.keys())
def test_a_fault_is_reported_only_while_it_is_planted(fault: Fault) -> None:
    case = replace(case_from_source(fault.source, fault.name), thorough=True)
    modes = {path.mode for path in select_paths([fault.paths])}
    paths = [path for path in core_paths() if path.mode in modes]
    with fault.plant():
        planted = judge(case, paths)
    assert planted.valid
    # Only the named check reports the fault, with at most one finding for each path.
    assert {finding.check for finding in planted.findings} == {fault.check}
    assert len(planted.findings) <= len(paths)
    for finding in planted.findings:
        assert finding.path.matches(fault.paths)
        assert len(finding.message.splitlines()) <= 10
    after = judge(case, paths)
    assert after.valid and after.findings == ()

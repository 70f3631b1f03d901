"""Planted faults: each is reported by its check alone, and a repro file shows it. Judged once for both."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from unittest import mock

import pytest
import torch
from torch._dynamo.exc import TorchDynamoException
from torch.export.pt2_archive._package import AOTICompiledModel
from torch.utils import _pytree as pytree

from exportdiff.core.case import case_from_source
from exportdiff.judging.checks import CHECKS
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.lab.faults import FAULTS, Fault, offering, reusing, training, transforming, under_settings
from exportdiff.lab.faults.detection import shown_by
from exportdiff.repro import repro_source
from exportdiff.runtime.paths import EXPENSIVE, Path, all_paths, core_paths, cost, select_paths
from exportdiff.runtime.paths.catalog import narrows
from exportdiff.runtime.paths.transforms import TRANSFORMS
from support.in_process import run_script
from support.new_findings import new_findings
from support.of_this_torch import HERE, PINNED

EVERY = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())


def test_every_check_has_a_fault_that_it_reports() -> None:
    assert {fault.check for fault in FAULTS.values()} == set(CHECKS)


@EVERY
def test_a_fault_says_what_it_breaks(fault: Fault) -> None:
    assert fault.why.endswith(".") and select_paths([fault.paths]) and "def make()" in fault.source


TABLES = {
    name: value
    for table in (offering, reusing, training, transforming, under_settings)
    for name, value in vars(table).items()
}
ROWS = {name: fault for name, fault in FAULTS.items() if name in TABLES}


def test_every_row_of_the_table_has_a_fault_of_its_own() -> None:
    broken = {path for fault in ROWS.values() for path in select_paths([fault.paths])}
    transforms = {name for path in broken for name in path.transforms}
    assert set(TRANSFORMS) - transforms == {"pickle"}  # nothing that torch makes today can be pickled
    runners = {path.runner for path in broken if not path.transforms and path.mode != "draft"}
    assert runners == {"stages", "scheduled", "aot_eager", "inductor", "fullgraph"} | COMPILED
    assert "draft" in {path.mode for path in broken}


COMPILED = {"package", "updated", "managed"}
"""The runners of AOTInductor."""


@dataclass(frozen=True)
class Judged:
    """What a fault's own model shows while the fault is planted, and afterwards."""

    fault: Fault
    paths: tuple[Path, ...]
    planted: Verdict
    after: Verdict


def skip_unless_it_can_be_planted(fault: Fault) -> None:
    """Skip a fault that replaces text which another torch than the pinned one does not have."""
    try:
        with fault.plant():
            pass
    except LookupError as error:
        if HERE == PINNED:
            raise
        pytest.skip(f"torch {HERE} has other code in its place: {error}")


PACKAGE = "a_package_reverses_its_inputs"
"""AOTInductor compiles its model for twenty seconds each time: four times for the two tests of a fault."""
GENERATED = "the_generated_code_of_relu_is_inverted"
"""Inductor compiles its model in as much time."""
SLOW = {PACKAGE, GENERATED, "new_weights_stay_inactive", "managed_weights_are_copied"}
"""Faults whose models are compiled to machine code."""

FIRST = {fault.check: name for name, fault in reversed(FAULTS.items())}
"""The first fault of each check."""


def faults(at_night: Collection[str]) -> pytest.MarkDecorator:
    """Give a test what each fault shows."""
    each = [
        pytest.param(fault, marks=[pytest.mark.nightly] if name in at_night else [], id=name)
        for name, fault in FAULTS.items()
    ]
    return pytest.mark.parametrize("judged", each, indirect=True, scope="module")


@cache
def without_the_fault(source: str, paths: tuple[Path, ...], thorough: bool) -> Verdict:
    """Return the verdict on a model with no fault planted; many faults have the same model."""
    return judge(replace(case_from_source(source), thorough=thorough), paths)


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> Iterator[Judged]:
    """Judge along the core paths of the fault's modes, and what breaks a transform on paths through it."""
    fault: Fault = request.param
    named = select_paths([fault.paths])
    modes = {path.mode for path in named}
    paths = [path for path in core_paths() if path.mode in modes]
    if fault.name in ROWS:
        paths += [path for path in named if path not in paths]
    # Each further call that leaves the spec may be one more compilation, which takes seconds there.
    case = replace(case_from_source(fault.source, fault.name), thorough=max(map(cost, named)) < EXPENSIVE)
    skip_unless_it_can_be_planted(fault)
    with fault.plant():
        planted = judge(case, paths)
    after = without_the_fault(fault.source, tuple(paths), case.thorough)
    yield Judged(fault, tuple(paths), planted, after)


def test_a_fault_of_packages_reverses_inputs() -> None:
    fault, (one, two) = FAULTS[PACKAGE], torch.arange(2)
    skip_unless_it_can_be_planted(fault)
    arguments, results = pytree.tree_structure(((0, 0), {})), pytree.tree_structure([0, 0])
    specs = list(map(pytree.treespec_dumps, (arguments, results)))
    # Instead of a compiled model: it returns its inputs.
    loader = mock.Mock(**{"get_call_spec.return_value": specs, "boxed_run": list})
    package = AOTICompiledModel(loader)
    assert package(one, two) == [one, two]
    with fault.plant():
        assert package(one, two) == [two, one]
    assert package(one, two) == [one, two]


def test_faults_of_new_weights_change_how_they_are_loaded() -> None:
    weights = {"weight": torch.ones(2)}
    right = (weights, False, True, True, False)
    inactive, copied = (weights, True, True, True, False), (weights, False, True, False, False)
    planted = {"new_weights_stay_inactive": inactive, "managed_weights_are_copied": copied}
    for name, wrong in planted.items():
        fault, loader = FAULTS[name], mock.Mock()
        skip_unless_it_can_be_planted(fault)
        package = AOTICompiledModel(loader)
        with fault.plant():
            package.load_constants(weights, check_full_update=True, user_managed=True)
        package.load_constants(weights, check_full_update=True, user_managed=True)
        assert loader.load_constants.call_args_list == [mock.call(*wrong), mock.call(*right)]


@pytest.mark.nightly
def test_a_fault_of_packages_shows() -> None:
    fault = FAULTS[PACKAGE]
    case = replace(case_from_source(fault.source), thorough=False)
    skip_unless_it_can_be_planted(fault)
    with fault.plant():
        findings = judge(case, select_paths(["aoti:package"])).findings
    assert {finding.check for finding in findings} == {fault.check}


ALSO = {"buffers_with_the_same_name_are_confused": {"state"}}
"""Checks that report a fault as well: the buffer is also missing in the state."""


@faults(at_night={name for at, name in enumerate(FAULTS) if at % 4} - set(FIRST.values()) | SLOW)
def test_reported_while_planted_and_never_else(judged: Judged) -> None:
    fault, planted, after = judged.fault, judged.planted, judged.after
    assert planted.valid
    # One check reports it, and where it breaks both paths in a way of its own, each once.
    also = ALSO.get(fault.name, set())
    assert {finding.check for finding in planted.findings} - also == {fault.check}
    assert len(planted.findings) <= len(judged.paths)
    for finding in planted.findings:
        assert finding.path.matches(fault.paths)
        assert len(finding.message.splitlines()) <= 10
    # A model in train mode shows that unflattened modules ignore eval().
    assert after.valid and new_findings(case_from_source(fault.source), after) == []


@faults(at_night=FAULTS.keys() - FIRST.values() | SLOW)
def test_file_shows_the_bug_only_while_it_is_there(judged: Judged, tmp_path: pathlib.Path) -> None:
    fault = judged.fault
    finding = next(f for f in judged.planted.findings if f.check == fault.check)
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding, fault.source))

    with fault.plant():
        code, printed = run_script(file)
    assert code == 1
    assert re.fullmatch(r"BUG: .+\n", printed)
    named = set(select_paths([fault.paths]))
    named = {path for path in named if path in core_paths()} or named
    mended = [result for result in judged.after.paths if result.path in named]
    if all(result.status == "unsupported" for result in mended) and finding.check != "purity":
        # It is right to refuse this model.
        with pytest.raises(TorchDynamoException):
            run_script(file)
    elif narrows(finding.path):
        # It is right to refuse this size, when the program runs.
        with pytest.raises(RuntimeError, match="Runtime assertion failed"):
            run_script(file)
    else:
        code, printed = run_script(file)
        assert code == 0
        assert re.fullmatch(r"ok: .+\n", printed)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ROWS.values(), ids=ROWS.keys())
def test_what_breaks_one_transform_shows_on_the_paths_through_it_alone(fault: Fault) -> None:
    """On all paths but the expensive ones; the test of every fault has the core paths and its own."""
    named = select_paths([fault.paths])
    paths = [path for path in all_paths() if cost(path) < EXPENSIVE or path in named]
    found = shown_by(fault, case_from_source(fault.source, fault.name), paths)
    assert {finding.check for finding in found} == {fault.check}
    assert all(finding.path in named for finding in found)

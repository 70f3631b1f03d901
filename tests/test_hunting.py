"""Hunting a planted fault: what counts as caught, and what becomes of a process that dies."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

import pytest
import torch.export._trace as trace

from harness.case import Case, case_from_source
from harness.engine.detection import Hunted, Settings, hunt, hunt_all, shown_by
from harness.engine.worker import Job
from harness.faults import FAULTS
from harness.judge.judge_case import judge_case
from harness.judge.verdict import Verdict
from harness.paths import Path, select_paths
from harness.processes.pool import Stopped
from harness.programs import program_source

PATHS = select_paths(["nonstrict:*"])
JOB = Job(0, PATHS)
FAULT = "export_leaves_a_hook"
OPEN = pathlib.Path(__file__).parents[1] / "corpora" / "open"


def test_what_the_fault_alone_explains_is_shown(case: Callable[[str], Case]) -> None:
    linear = case("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1")
    findings = shown_by(FAULTS[FAULT], linear, PATHS)
    assert [finding.check for finding in findings] == ["purity"]
    assert shown_by(FAULTS["every_call_runs_the_first_calls_graph"], linear, PATHS) == ()


def test_a_bug_of_torch_itself_is_not_the_faults() -> None:
    name = "unflatten_redirects_call_to_missing_variant.py"
    known = case_from_source((OPEN / name).read_text())
    assert judge_case(known, PATHS).findings
    # The fault has nothing to say about a model that is called once.
    assert shown_by(FAULTS["unflatten_unties_parameters"], known, PATHS) == ()


# What stands in for judging: modules of the tests are importable in the processes that hunt.


def _planted() -> bool:
    return bool(trace._export.__name__ == "replacement")


def _is_third(case: Case) -> bool:
    return case.source == program_source(0, 2)[0]


def finds_nothing(case: Case, paths: Sequence[Path]) -> Verdict:
    return Verdict(True, "", (), (), 0.0)


def dies_if_planted(case: Case, paths: Sequence[Path]) -> Verdict:
    if _is_third(case) and _planted() and PATHS[1] in paths:
        os.abort()
    return finds_nothing(case, paths)


def hangs_if_planted(case: Case, paths: Sequence[Path]) -> Verdict:
    if _is_third(case) and _planted() and paths != PATHS[:1]:
        time.sleep(600)
    return finds_nothing(case, paths)


def dies_anyway(case: Case, paths: Sequence[Path]) -> Verdict:
    if _is_third(case):
        os.abort()
    return finds_nothing(case, paths)


def fails_itself(case: Case, paths: Sequence[Path]) -> Verdict:
    if _is_third(case):
        raise RuntimeError("our own mistake")
    return finds_nothing(case, paths)


def _hunted(settings: Settings) -> Hunted:
    return hunt(FAULT, settings, Event())


@pytest.mark.parametrize(("judge", "kind"), [(dies_if_planted, "abort"), (hangs_if_planted, "hang")])
def test_a_process_killed_by_the_fault_is_a_catch(
    judge: Callable[[Case, Sequence[Path]], Verdict], kind: str
) -> None:
    result = _hunted(Settings(JOB, examples=4, judge=judge, example_seconds=5))
    (finding,) = result.findings
    assert (finding.check, finding.kind, finding.path) == ("alive", kind, PATHS[1])
    assert result.programs == 3 and result.errors == ()


def test_a_process_that_dies_without_the_fault_as_well_is_none() -> None:
    result = _hunted(Settings(JOB, examples=5, judge=dies_anyway))
    assert result.findings == () and result.programs == 5 and result.errors == ()


def test_a_failure_of_our_own_is_told_and_no_catch() -> None:
    result = _hunted(Settings(JOB, examples=4, judge=fails_itself))
    assert result.findings == () and result.programs == 4
    (error,) = result.errors
    assert "our own mistake" in error and "program 2" in error


def test_the_time_is_the_limit() -> None:
    result = _hunted(Settings(JOB, seconds=0.5, judge=finds_nothing))
    assert result.findings == () and 0.5 <= result.seconds < 5 and result.programs > 1


def test_a_hunt_can_be_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        hunt(FAULT, Settings(JOB), stop)


def test_workers_do_not_matter() -> None:
    names = (FAULT, "unflatten_swaps_outputs", "unflatten_forgets_buffers")
    settings = Settings(JOB, examples=16)
    one, two = (
        [replace(result, seconds=0.0) for result in hunt_all(names, settings, workers)] for workers in (1, 2)
    )
    assert one == two and [result.fault for result in one] == list(names)
    assert all(result.findings for result in one)

"""Detecting a planted fault: what counts as detected, and what happens when a process dies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

import pytest
import torch.export._trace as trace

from exportdiff.core.case import Case, case_from_source
from exportdiff.core.programs import program_source
from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import Verdict
from exportdiff.lab.faults import FAULTS
from exportdiff.lab.faults.detection import Detection, DetectionSettings, detect, detect_all, shown_by
from exportdiff.runtime.patching.fixes import read_fixes
from exportdiff.runtime.patching.installed import install, installed
from exportdiff.runtime.paths import Path, select_paths
from exportdiff.runtime.processes.child import Stopped
from support.evidence_of import make_finding
from support.folders import CORPORA

PATHS = select_paths(["nonstrict:*"])
JOB = Job(0, PATHS)
FAULT = "export_leaves_a_hook"
OPEN = CORPORA / "open"


def test_what_shows_only_with_the_fault_counts(case: Callable[[str], Case]) -> None:
    linear = case("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1")
    findings = shown_by(FAULTS[FAULT], linear, PATHS)
    assert [finding.check for finding in findings] == ["purity"]
    assert shown_by(FAULTS["every_call_runs_the_first_calls_graph"], linear, PATHS) == ()


def test_a_bug_of_torch_itself_does_not_count() -> None:
    name = "unflatten_redirects_call_to_missing_variant.py"
    known = case_from_source((OPEN / name).read_text())
    assert judge_case(known, PATHS).findings
    # The fault has nothing to say about a model that is called once.
    assert shown_by(FAULTS["unflatten_unties_parameters"], known, PATHS) == ()


def test_a_fault_is_planted_on_top_of_the_fixes_that_are_held(case: Callable[[str], Case]) -> None:
    seen: list[tuple[bool, bool]] = []

    def judge(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
        seen.append((bool(installed()), _planted()))
        # Torch without the fixes shows it too: the fault has lost a fix, and is not to blame.
        shown = (make_finding("value"),) if _planted() or not installed() else ()
        return Verdict(True, "", (), shown, 0.0)

    linear = case("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1")
    install([read_fixes(OPEN.parent / "fixes")["guard_strings_as_literals"]])
    try:
        assert shown_by(FAULTS[FAULT], linear, PATHS[:1], judge) == ()
        assert seen == [(True, True), (True, False), (False, False)]
    finally:
        install(())


# Replacements of ``judge_case``: the child processes can import the modules of the tests.


def _planted() -> bool:
    return bool(trace._export.__name__ == "replacement")


def _is_third(case: Case) -> bool:
    return case.source == program_source(0, 2)[0]


def finds_nothing(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
    return Verdict(True, "", (), (), 0.0)


def dies_if_planted(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
    if _is_third(case) and _planted() and PATHS[1] in paths:
        os.abort()
    return finds_nothing(case, paths)


def hangs_if_planted(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
    if _is_third(case) and _planted() and paths != PATHS[:1]:
        time.sleep(600)
    return finds_nothing(case, paths)


def dies_anyway(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
    if _is_third(case):
        os.abort()
    return finds_nothing(case, paths)


def fails_itself(case: Case, paths: Sequence[Path], refusals: object = ()) -> Verdict:
    if _is_third(case):
        raise RuntimeError("our own mistake")
    return finds_nothing(case, paths)


def _detected(settings: DetectionSettings) -> Detection:
    return detect(FAULT, settings, Event())


@pytest.mark.parametrize(("judge", "kind"), [(dies_if_planted, "abort"), (hangs_if_planted, "hang")])
def test_a_process_killed_by_the_fault_is_a_detection(judge: Callable[..., Verdict], kind: str) -> None:
    result = _detected(DetectionSettings(JOB, examples=4, judge=judge, example_seconds=5))
    (finding,) = result.findings
    assert (finding.check, finding.kind, finding.path) == ("alive", kind, PATHS[1])
    assert result.programs == 3 and result.errors == ()


def test_a_process_that_dies_without_the_fault_as_well_is_no_detection() -> None:
    result = _detected(DetectionSettings(JOB, examples=5, judge=dies_anyway))
    assert result.findings == () and result.programs == 5 and result.errors == ()


def test_a_failure_of_exportdiff_itself_is_reported_and_no_detection() -> None:
    result = _detected(DetectionSettings(JOB, examples=4, judge=fails_itself))
    assert result.findings == () and result.programs == 4
    (error,) = result.errors
    assert "our own mistake" in error and "program 2" in error


def test_the_time_is_the_limit() -> None:
    result = _detected(DetectionSettings(JOB, seconds=0.5, judge=finds_nothing))
    assert result.findings == () and result.seconds >= 0.5 and result.programs


def test_detection_can_be_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        detect(FAULT, DetectionSettings(JOB), stop)


def test_the_number_of_workers_does_not_change_the_result() -> None:
    names = (FAULT, "unflatten_forgets_buffers")
    settings = DetectionSettings(JOB, examples=4)
    one, two = (
        [replace(result, seconds=0.0) for result in detect_all(names, settings, workers)]
        for workers in (1, 2)
    )
    assert one == two and [result.fault for result in one] == list(names)
    assert one[0].findings

"""The measurement ``gpu``, without one: what counts as a difference, the texts, the schedule, the report."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from exportdiff.cli import main
from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Kind
from exportdiff.core.path import Path
from exportdiff.judging.results import PathResult, Verdict
from exportdiff.lab.bench.gpu import judged, moved, precision, schedule
from exportdiff.lab.bench.gpu.direct import exported
from exportdiff.lab.bench.gpu.found import Difference, Ran, dropped
from exportdiff.lab.bench.gpu.measure import result_of
from exportdiff.lab.bench.gpu.schedule import KERNEL_ERRORS, Board, _Queue, run_tasks
from exportdiff.lab.bench.gpu.sections import SECTIONS, impossible
from exportdiff.lab.bench.gpu.texts import (
    BOTH_DEVICES,
    LOW_PRECISION,
    ON_TWO_DEVICES,
    UNDER_AUTOCAST,
    UNSTEADY,
    drawn,
)
from support.evidence_of import make_finding

LINEAR = """
import torch
from torch import nn


def make():
    torch.manual_seed(0)
    return nn.Linear(3, 3), (torch.ones(2, 3),)
"""
DIFFERENCE = Difference("paths-1", "nonstrict:module@cuda", "outputs", "differs", LINEAR)


@pytest.mark.parametrize(
    ("on_cpu", "second_run", "counts"),
    [
        ((), True, (0, 0, 1)),
        (("word",), True, (1, 0, 0)),
        ((), False, (0, 1, 0)),
        (("other",), True, (0, 0, 1)),
    ],
)
def test_only_what_the_device_shows_twice_and_the_cpu_does_not_counts(
    monkeypatch: pytest.MonkeyPatch, on_cpu: tuple[str, ...], second_run: bool, counts: tuple[int, int, int]
) -> None:
    runs: Counter[str] = Counter()

    def judge(case: Case, paths: Sequence[Path]) -> Verdict:
        (path,) = paths
        runs[path.device] += 1
        shows = on_cpu if path.device == "cpu" else ("word",) * (runs["cuda"] == 1 or second_run)
        found = tuple(replace(make_finding(word), path=path, shown_on=(path,)) for word in shows)
        return Verdict(True, "", (PathResult(path, "ok"),), found, 0.0)

    monkeypatch.setattr(judged, "judge_case", judge)
    ran = judged.only_on_device("paths-1", lambda device: LINEAR, ["nonstrict:module@cuda"], "cuda")
    assert (ran.shared, ran.unsteady, len(ran.differences)) == counts
    assert [bool(each.on_cpu) for each in ran.differences] == [on_cpu == ("other",)] * counts[2]


@pytest.mark.parametrize(("kind", "counts"), [("crash", (1, 0)), ("mismatch", (0, 1))])
def test_an_exception_with_the_same_text_on_the_cpu_is_the_same_finding(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, counts: tuple[int, int]
) -> None:
    def judge(case: Case, paths: Sequence[Path]) -> Verdict:
        (path,) = paths
        found = replace(make_finding(path.device, kind=kind), path=path, shown_on=(path,))
        return Verdict(True, "", (PathResult(path, "ok"),), (found,), 0.0)

    monkeypatch.setattr(judged, "judge_case", judge)
    ran = judged.only_on_device("paths-1", lambda device: LINEAR, ["nonstrict:module@cuda"], "cuda")
    assert (ran.shared, len(ran.differences)) == counts


def test_changed_programs_run() -> None:
    changes = [ON_TWO_DEVICES, UNDER_AUTOCAST, LOW_PRECISION.replace("DTYPE", "bfloat16")]
    sources = [LINEAR + change for change in changes]
    for source in (*sources, *BOTH_DEVICES, *UNSTEADY):
        built = case_from_source(source.replace("DEVICE", "cpu")).build()
        built.model(*built.args, **built.kwargs)
    low = case_from_source(sources[2]).build()
    assert low.model(*low.args).dtype is torch.bfloat16


def test_a_subclass_is_on_the_device_of_its_parts() -> None:
    sources = (drawn(0, index)[0] for index in range(200))
    source = next(each for each in sources if "class Two" in each)
    two = case_from_source(source).build().model.forward.__globals__["Two"]
    assert two(torch.ones(2, device="meta"), torch.ones(2, device="meta")).device.type == "meta"


def test_inductor_and_autocast_need_cuda() -> None:
    assert set(impossible("second")) == {"region", "block", "inductor", "aoti"}
    assert len({each.name for each in SECTIONS}) == len(SECTIONS)


def test_models_with_inputs_on_both_devices_agree_on_one() -> None:
    assert moved.inputs_on_both("cpu", 0, 0) == Ran(1, 5)


def test_a_program_that_moves_wrongly_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moved._moved(LINEAR, "cpu", "cpu", 0) == Ran(1, 1)
    original = moved._of_moved

    def wrong(source: str, start: str, end: str) -> Callable[..., object]:
        module: Callable[..., Any] = original(source, "cpu", "cpu")
        return module if start == "cpu" else lambda x: module(x) + 1

    monkeypatch.setattr(moved, "_of_moved", wrong)
    monkeypatch.setattr(moved, "exported", lambda source, device: exported(source, "cpu"))
    (found,) = moved._moved(LINEAR, "elsewhere", "cpu", 0).differences
    assert found.path == "nonstrict+todevice(elsewhere to cpu):module"
    assert "value" in found.title

    def in_bfloat16(source: str, device: str) -> torch.export.ExportedProgram:
        return exported(
            source if device == "cpu" else source + LOW_PRECISION.replace("DTYPE", "bfloat16"), "cpu"
        )

    monkeypatch.setattr(moved, "exported", in_bfloat16)
    assert moved._moved(LINEAR, "elsewhere", "cpu", 0).dropped == (
        "the program has other dtypes on the other device",
    )


def test_a_program_with_tied_weights_is_not_expected_to_move() -> None:
    tied = LINEAR.replace("return nn.Linear(3, 3)", "return nn.Sequential(*2 * [nn.Linear(3, 3)])")
    assert "share memory" in moved._unfit(exported(tied, "cpu"))
    assert moved._unfit(exported(LINEAR, "cpu")) == ""


@pytest.mark.skipif(not KERNEL_ERRORS, reason="this torch has no torch.AcceleratorError")
def test_a_failed_kernel_costs_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(device: str, seed: int, index: int) -> Ran:
        raise KERNEL_ERRORS[0]("device-side assert triggered")

    monkeypatch.setattr(schedule, "section", lambda name: replace(SECTIONS[0], task=failing))
    ran = run_tasks("paths", "cpu", 0, [0, 1])
    assert ran == Ran(dropped=("a kernel failed: device-side assert triggered",), broken=True)


@pytest.mark.parametrize("batch", [1, 2])
def test_a_program_that_breaks_torch_costs_its_process(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    def breaking(device: str, seed: int, index: int) -> Ran:
        def broken() -> bytes:
            raise RuntimeError("PythonDispatcherTLS was not set")

        monkeypatch.setattr(schedule, "random_state", broken)
        raise RuntimeError("PythonDispatcherTLS was not set")

    monkeypatch.setattr(schedule, "section", lambda name: replace(SECTIONS[0], task=breaking))
    if batch > 1:  # they run again, one by one
        with pytest.raises(RuntimeError, match="PythonDispatcherTLS"):
            run_tasks("paths", "cpu", 0, range(batch))
    else:
        ran = run_tasks("paths", "cpu", 0, range(batch))
        reason = "torch works no longer in the process: PythonDispatcherTLS was not set"
        assert ran == Ran(dropped=(reason,), broken=True)


def test_an_error_of_exportdiff_is_not_a_broken_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(device: str, seed: int, index: int) -> Ran:
        raise RuntimeError("a bug")

    monkeypatch.setattr(schedule, "section", lambda name: replace(SECTIONS[0], task=failing))
    with pytest.raises(RuntimeError, match="a bug"):
        run_tasks("paths", "cpu", 0, [0])


@pytest.mark.parametrize(("form", "found"), [(2, 0), (3, 1)])
def test_an_error_of_tf32_is_tolerated_where_tf32_is_used(
    monkeypatch: pytest.MonkeyPatch, form: int, found: int
) -> None:
    def rounded(model: torch.nn.Module, x: torch.Tensor) -> Iterator[tuple[str, Callable[[], torch.Tensor]]]:
        yield "nonstrict:module", lambda: model(x) * (1 + 2.0**-11)

    monkeypatch.setattr(precision, "_ways", rounded)
    assert len(precision.within_bounds("cpu", 0, form).differences) == found


def test_every_section_gets_its_share() -> None:
    board = Board()
    queue = _Queue(SECTIONS, board, lambda name, ran: None)
    taken: Counter[str] = Counter()
    for _ in range(400):
        each, _ = queue.take() or pytest.fail("paths are without end")
        taken[each.name] += 1
        queue.add(each.name, 1.0, Ran())
    assert set(taken) == {each.name for each in SECTIONS}
    assert taken["paths"] > taken["region"] > 10
    assert all(taken[each.name] <= each.tasks for each in SECTIONS if each.tasks is not None)


def test_the_report_says_what_ran_and_what_did_not() -> None:
    board = Board()
    again, other = (
        replace(DIFFERENCE, program="paths-2"),
        replace(DIFFERENCE, title="outputs " + 20 * "long "),
    )
    board.ran["paths"] += Ran(2, 3, shared=1, dropped=("why",), differences=(other, DIFFERENCE, again))
    board.ran["paths"] += dropped("why")
    result = result_of(board, "second", {"aoti": "no compiler"}, {DIFFERENCE: "002-paths-1.py"})
    assert result.exit_code == 1
    figures = {figure.name.partition(":")[0]: figure for figure in result.figures}
    assert (figures["paths"].value, figures["paths"].note) == (2, "")
    assert figures["aoti"].note == "not possible: no compiler"
    counts, differing = result.tables
    assert counts.rows[0] == ("paths", 3, 3, 1, "", 2)
    assert "aoti" not in {row[0] for row in counts.rows}
    assert differing.rows == (
        ("paths", "outputs", 2, "002-paths-1.py", "differs"),
        ("paths", "outputs", 1, "paths-1", 17 * "long " + "..."),
    )
    assert result.data["sections"]["paths"]["dropped"] == {"why": 2}
    board.errors.append("Traceback")
    assert result_of(board, "second", {}).exit_code == 3


def test_a_machine_without_a_gpu_runs_nothing(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("exportdiff.lab.bench.gpu.measure.available_devices", lambda: ("cpu",))
    out = tmp_path / "gpu.json"
    assert main(["bench", "--only", "gpu", "--out", str(out)]) == 2
    told = capsys.readouterr()
    assert "torch finds no GPU" in told.out
    assert set(json.loads(out.read_text())["measurements"]["gpu"]["data"]["not_possible"]) == {
        each.name for each in SECTIONS
    }
    assert main(["bench", "--only", "gpu", "--device", "cuda"]) == 2
    assert "--device second needs no GPU" in capsys.readouterr().err

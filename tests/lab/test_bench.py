"""The benchmark, with tiny sizes: what the clocks count, and what the command prints and writes."""

from __future__ import annotations

import json
import pathlib
import sys
from dataclasses import replace

import pytest

from exportdiff.cli import main
from exportdiff.core.case import Case
from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.judging import verdict
from exportdiff.lab.bench import bare_loop, first_minute, growth, reach, rediscovery, stages, yields
from exportdiff.lab.bench.context import Context
from exportdiff.lab.bench.figures import Figure, Result, spread
from exportdiff.lab.bench.first_shown import FirstShown
from exportdiff.lab.bench.machine import describe
from exportdiff.lab.bench.path_clock import PathClock
from exportdiff.lab.bench.planted import sample
from exportdiff.lab.bench.records import USUAL, Record, Records, UsualRoots, record
from exportdiff.lab.bench.registry import MEASUREMENTS, Measurement
from exportdiff.lab.bench.run import Measured, document
from exportdiff.lab.bench.scale import QUICK
from exportdiff.lab.bench.shape import Shape, shape_of
from exportdiff.lab.bench.stage_clock import CHECK, DRAW, EXPORT, LOAD, OBSERVE, RUN, StageClock
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.in_child import call_fresh
from support.evidence_of import make_finding

PATHS = select_paths(["nonstrict:*"])
TINY = replace(QUICK, name="tiny", default_programs=4, nonstrict_programs=2, bare_programs=2)

SOURCE = """
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)

    def forward(self, x):
        y = self.a(x)
        return self.b["k"](y) + other(x)
"""


@pytest.fixture(scope="module")
def recorded() -> Record:
    answer = call_fresh(120, record, Job(0, PATHS), 3)
    assert isinstance(answer, Record)
    return answer


def _record(index: int, cpu: float, *roots: str) -> Record:
    named = {"finger": frozenset(roots)}
    return Record(index, "", (), Shape(1, 1, 1, 1), {RUN: cpu}, {}, {}, (), (), named)


def test_every_stage_is_counted_once(recorded: Record) -> None:
    assert {DRAW, LOAD, EXPORT, RUN, OBSERVE, CHECK} <= recorded.stages.keys()
    assert all(seconds >= 0 for seconds in recorded.stages.values())
    assert 0 < sum(recorded.path_cpu.values()) < recorded.cpu


def test_the_clocks_leave_nothing_behind() -> None:
    before = vars(verdict)["observe_eager"], vars(verdict)["observe_paths"]
    with StageClock().attached(), PathClock().attached():
        during = vars(verdict)["observe_eager"], vars(verdict)["observe_paths"]
    assert during[0] is not before[0]
    assert during[1] is not before[1]
    assert before == (vars(verdict)["observe_eager"], vars(verdict)["observe_paths"])


def test_a_whole_stage_keeps_what_is_inside_it() -> None:
    clock = StageClock()
    with clock.whole(DRAW), clock.stage(RUN):
        sum(range(10_000))
    assert clock.cpu[DRAW] > 0
    assert RUN not in clock.cpu


def test_shape_counts_what_the_methods_hold() -> None:
    assert shape_of(SOURCE, ("hierarchy.depth3",)) == Shape(statements=2, calls=2, classes=1, depth=3)


def test_curve_counts_each_root_cause_once() -> None:
    records = [_record(0, 1.0), _record(1, 2.0), _record(2, 3.0)]
    first = {0: frozenset({"a"}), 2: frozenset({"b", "not in the corpus"})}
    points = rediscovery.curve(records, first, frozenset({"a", "b", "c", "d"}))
    assert points == [(1.0, 1), (6.0, 2)]
    assert rediscovery.seconds_to(50, points, 4) == 6.0
    assert rediscovery.seconds_to(80, points, 4) is None


def test_over_torch_is_a_ratio(recorded: Record) -> None:
    assert 1 < stages.over_torch([recorded]) < 50


def test_growth_fits_the_exponent() -> None:
    sizes = list(range(1, 41))
    assert growth.exponent_of(sizes, [0.1 * (1 + size) ** 2 for size in sizes]) == pytest.approx(2)
    assert growth.exponent_of([1] * 40, [1.0] * 40) is None
    assert growth.exponent_of([1, 2], [1.0, 2.0]) is None


def test_yield_groups_programs(recorded: Record) -> None:
    by_path = yields.paths_of([recorded])
    assert set(by_path) == set(map(str, PATHS))
    groups = yields.grouped([recorded], lambda _: "one")
    assert groups["one"].runs == 1
    assert groups["one"].cpu == pytest.approx(recorded.cpu)


def test_bare_loop_compares_both_runners(case: object) -> None:
    assert callable(case)
    built = case("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1")
    assert isinstance(built, Case)
    assert bare_loop.loop(built) == [True] * 6


def test_sample_is_spread_over_the_list() -> None:
    assert sample(["a", "b", "c", "d"], 2) == ["a", "c"]
    assert sample(["a"], 5) == ["a"]


def test_spread_holds_the_figure() -> None:
    low, high = spread([1.0, 2.0, 3.0, 4.0, 5.0], lambda some: sum(some) / len(some)) or (0.0, 0.0)
    assert 1 < low < 3 < high < 5
    assert spread([1.0], sum) is None


def test_only_bodies_of_functions_count() -> None:
    assert reach.lines_of_functions("import os\n\ndef f():\n    a = 1\n    return a\n") == {4, 5}


def test_coverage_counts_bodies_of_functions_of_each_module() -> None:
    some = reach.Reached(frozenset({1, 2}), frozenset(), frozenset({1, 2, 3, 4}), frozenset({(1, 2)}))
    result = reach.summary(dict.fromkeys(reach.MODULES, some), 3)
    assert [figure.value for figure in result.figures] == [50, 0]
    assert [row[3] for row in result.tables[0].rows] == [2] * len(reach.MODULES)


CAMPAIGN = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[1])
out.mkdir()
with (out / "events.ndjson").open("w", buffering=1) as events:
    for name in ("campaign_started", "example_done", "example_done", "campaign_finished"):
        print('{"event": "%s", "at": 0.0}' % name, file=events)
time.sleep(0.5)
"""


def test_the_first_minute_is_read_from_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_minute, "SECONDS", 0)
    command = first_minute._command(Context(TINY, 2, 7, None), pathlib.Path("out"))
    assert [command[command.index(name) + 1] for name in ("--workers", "--seed")] == ["2", "7"]
    monkeypatch.setattr(
        first_minute, "_command", lambda context, out: [sys.executable, "-c", CAMPAIGN, str(out)]
    )
    programs, first, late = first_minute.measure(Context(TINY, 2, 0, None)).figures
    assert programs.value == 2
    assert first.value is not None and late.value is not None
    assert 0 < first.value < late.value


def test_document_is_json() -> None:
    context = Context(TINY, 1, 0, None)
    first = MEASUREMENTS[0]
    result = Result((Figure("x", 1.23456, "ms", spread=(1.0, 2.0)), Figure("y", None, note="why")))
    text = json.dumps(document([Measured(first, result, 1.0)], context, describe()))
    read = json.loads(text)
    assert {"torch", "python", "cores", "scale"} <= read.keys()
    assert read["measurements"][first.name]["figures"][0]["value"] == 1.235


def test_command_measures_and_writes(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("exportdiff.lab.bench.scale.QUICK", TINY)
    out = tmp_path / "bench.json"
    assert main(["bench", "--only", "bare", "--workers", "1", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("harness over a bare loop" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert json.loads(out.read_text())["scale"] == "tiny"


def _interrupted(context: Context) -> Result:
    raise KeyboardInterrupt


def test_an_interrupted_command_keeps_what_it_measured(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = Measurement("done", "A measurement", lambda context: Result((Figure("kept", 7.0),)))
    cut, never = (Measurement(name, "A measurement", _interrupted) for name in ("cut", "never"))
    monkeypatch.setattr("exportdiff.lab.bench.registry.MEASUREMENTS", (done, cut, never))
    out = tmp_path / "bench.json"
    assert main(["bench", "--out", str(out)]) == 130
    told = capsys.readouterr()
    assert "kept" in told.out
    assert "interrupted" in told.err
    written = json.loads(out.read_text())["measurements"]
    assert list(written) == ["done", "cut"]
    assert [each["interrupted"] for each in written.values()] == [False, True]
    assert written["done"]["figures"][0]["value"] == 7.0


def test_an_interrupted_curve_ends_with_the_programs_that_are_attributed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = (_record(0, 1.0), _record(1, 2.0), _record(2, 3.0))
    context = Context(TINY, 1, 0, tmp_path)
    monkeypatch.setattr(Context, "default", Records(records, 0))
    shown = FirstShown({1: frozenset({"a"})}, 2, interrupted=True)
    monkeypatch.setattr(rediscovery, "first_shown", lambda *of: shown)
    monkeypatch.setattr(rediscovery, "all_roots", lambda corpora: {"a": "B", "b": "B"})
    result = rediscovery.measure(context)
    assert result.interrupted
    assert result.data["curve"] == [[3.0, 1]]
    assert "in 3 CPU s, 2 programs; interrupted: 3 were judged" in result.figures[0].note
    assert [(each.name, each.value, each.unit) for each in result.figures[-1:]] == [
        ("of severity B", 1, "of 2")
    ]


def test_command_names_the_measurements(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--only", "nothing"]) == 2
    assert "stages, minute" in capsys.readouterr().err


def _shown(*roots: str) -> Record:
    finding = make_finding("word")
    named = {finding.fingerprint: frozenset(roots)} if roots else {}
    return replace(_record(0, 1.0), findings=(finding,), roots=named)


def test_usual_root_causes_are_not_found_out_again() -> None:
    usual = UsualRoots()
    for _ in range(USUAL - 1):
        usual.add(_shown("a fix"))
    assert usual.of(_shown()) is None
    usual.add(_shown("a fix"))
    assert usual.of(_shown()) == _shown("a fix").roots
    usual.add(_shown("another fix"))
    assert usual.of(_shown()) is None
    assert usual.of(_record(0, 1.0)) == {}

"""Python values that calls change: export fixes them, so that only the first call can be compared."""

from __future__ import annotations

import pathlib
import sys
from dataclasses import replace

import filelock
import pytest

from exportdiff.core.case import Case, case_from_source
from exportdiff.judging.results import PathResult
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.observation import Call
from exportdiff.runtime.observing.python_state import PythonState
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.run.eager import observe_eager
from exportdiff.runtime.paths.stopwatch import Stopwatch

SOURCE = """
import collections, dataclasses, functools, itertools, random, sys
import torch
from torch import nn

{before}

class Model(nn.Module):
    step = 0

    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}

def make():
    return Model(), (torch.ones(2),)
"""
CLOSURE = """
def make_counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
COUNT = make_counter()
"""
CONFIG = """
@dataclasses.dataclass(frozen=True)
class Config:
    step: int = 0
"""
SLOTS = """
class Counter:
    __slots__ = ("n",)
    def __init__(self):
        self.n = 0
"""
CACHED = """
@functools.lru_cache
def counter():
    return {"n": 0}
"""
DEFAULT = """
def count(calls=[]):
    calls.append(1)
    return len(calls)
"""
# ruff: noqa: E501 - one counter a line
# name: (before the class, in __init__, forward), and what the report names
COUNTERS = {
    "Model.step": ("", "pass", "Model.step += 1; return x / Model.step"),
    "global N": ("N = 0", "pass", "global N; N += 1; return x / N"),
    "n of make_counter.<locals>.count": (CLOSURE, "pass", "return x / COUNT()"),
    "global TABLE['a']['n']": ('TABLE = {"a": {"n": 0}}', "pass", "TABLE['a']['n'] += 1; return x / TABLE['a']['n']"),
    "global LOG": ("LOG = []", "pass", "LOG.append(1); return x / len(LOG)"),
    "global QUEUE": ("QUEUE = collections.deque()", "pass", "QUEUE.append(1); return x / len(QUEUE)"),
    "global COUNT": ("COUNT = itertools.count(1)", "pass", "return x / next(COUNT)"),
    "global STEPS": ("", "global STEPS; STEPS = (n for n in range(1, 99))", "return x / next(STEPS)"),
    "global DRAW": ("DRAW = random.Random(0)", "pass", "return x / (1 + DRAW.random())"),
    "global DRAWN": (
        "DRAWN = torch.Generator().manual_seed(0)", "pass", "return x + torch.rand(2, generator=DRAWN).tolist()[0]"
    ),
    "global counter['n']": (CACHED, "counter()", "counter()['n'] += 1; return x / counter()['n']"),
    "the defaults of count[0]": (DEFAULT, "pass", "return x / count()"),
    "global forward.calls": ("def forward(): return 0\nforward.calls = 0", "pass", "forward.calls += 1; return x / forward.calls"),
    "model.config": (CONFIG, "self.config = Config()", "self.config = Config(self.config.step + 1); return x / self.config.step"),
    "model.counter.n": (SLOTS, "self.counter = Counter()", "self.counter.n += 1; return x / self.counter.n"),
    "model.count": ("", "self.count = itertools.count(1)", "return x / next(self.count)"),
}  # fmt: skip


def case_of(before: str, init: str, forward: str) -> Case:
    source = SOURCE.format(before=before, init=init, forward=forward)
    return replace(case_from_source(source, finite_only=False), thorough=True)


def values(calls: tuple[Call, ...]) -> list[object]:
    return [call.outputs.leaves[0].value.values.tolist() for call in calls]  # type: ignore[union-attr]


def judged(case: Case) -> PathResult:
    verdict = judge(case, [parse("nonstrict:module")])
    assert verdict.valid, verdict.invalid_reason
    assert verdict.findings == ()
    (result,) = verdict.paths
    return result


@pytest.mark.parametrize("name", COUNTERS)
def test_a_counter_is_fixed_by_export_wherever_it_is_kept(name: str) -> None:
    because = judged(case_of(*COUNTERS[name])).first_call_because
    assert because == f"calls of eager change {name}, which export fixes as they are (documented)"


def test_values_that_change_no_result_leave_all_calls_to_compare() -> None:
    cache = (
        "TABLES = {}\nCALLS = 0",
        "pass",
        "global CALLS; CALLS += 1; return x + TABLES.setdefault(len(x), len(x))",
    )
    case = case_of(*cache)
    eager = observe_eager(case, "cpu", Stopwatch())
    assert eager.python_values == {"global CALLS", "global TABLES"}
    assert judged(case).first_call_because == ""


def test_each_run_starts_from_the_same_values_although_the_factory_does_not_reset_them() -> None:
    case = case_of(
        "N = 0\nSEEN = torch.zeros(2)", "pass", "global N; N += 1; SEEN.add_(x); return x / N + SEEN"
    )
    first, second = (observe_eager(case, "cpu", Stopwatch()).calls for _ in range(2))
    assert values(first) == values(second) and values(first)[:2] == [[2.0, 2.0], [0.625, 0.625]]


def test_state_that_cannot_be_reached_shows_in_another_order_of_calls() -> None:
    held = "sys.modules['support'].calls"
    before = f"import support\ndef reset(): {held} = 0"
    case = case_of(before, "reset()", f"{held} += 1; return x / {held}")
    try:
        because = judged(case).first_call_because
    finally:
        del sys.modules["support"].calls
    assert because == "results of eager depend on the calls before, though its tensors stay as they are"


def test_a_slot_that_a_property_hides_is_left_alone() -> None:
    before = """
class Number:
    __slots__ = ("n",)
class One(Number):
    n = property(lambda self: [1])
"""
    assert judged(case_of(before, "self.one = One()", "return x / self.one.n[0]")).first_call_because == ""


def test_names_of_torch_and_of_python_are_not_visited() -> None:
    init = "self.inner = nn.Linear(2, 2); self.one = sympy.Integer(1)"
    forward = "return torch.relu(self.inner(x)) + sys.maxsize + int(sympy.S.One)"
    model = case_of("import sympy", init, forward).build().model
    visited = PythonState(model)
    assert len(visited._seen) < 100


def test_counters_of_locks_are_not_visited(tmp_path: pathlib.Path) -> None:
    forward = "return x if filelock.FileLock else -x"
    visited = PythonState(case_of("import filelock", "", forward).build().model)
    with filelock.FileLock(tmp_path / "lock"):
        assert visited.changed() == frozenset()

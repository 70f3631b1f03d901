"""Which deviating calls are informative: eager runs other operators in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.inputs.deviations import DEVIATIONS, Key
from exportdiff.runtime.observing.process_state import read_process_state
from exportdiff.runtime.observing.tensors import state_snapshot
from exportdiff.runtime.paths.run import model_calls
from exportdiff.runtime.paths.run.informative import Level, informative_calls, informative_first
from exportdiff.runtime.paths.run.model_calls import DEVIATING_CALLS, plan_calls

ARGS = "(torch.ones(2, 3), torch.zeros(2, 3), 2, True)"


def forward(text: str) -> str:
    return f"class Model(nn.Module):\n    def forward(self, x, y, n, flag):\n        {text}\n"


def told(case: Case, level: Level) -> set[Key]:
    """Return the informative ones of all calls."""
    _, examples = build(case, "cpu")
    keys = tuple(one.key for one in examples.deviations(DEVIATIONS.keys(), ""))
    assert len(keys) > 10
    return set(informative_calls(case, "cpu", level, keys))


@pytest.mark.parametrize("level", ["operators", "functions"])
@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("return x + y", set()),
        ("return x + y if flag else x", {("flag", 3)}),
        ("return x + n", {("number", 2), ("float", 2)}),
        ("return x + y, n", {("number", 2), ("float", 2)}),
        ("return (x, y) if flag else [x, y]", {("flag", 3)}),
        ("return x * y.stride(0)", {(way, 1) for way in ("size", "rank", "stride")}),
        ("return x * 2 if x is y else x", {("alias", 0), ("alias", 1)}),
        ("return x * 2 if y.requires_grad else x", {("requires-grad", 1)}),
        ("return x * 2 if torch.is_grad_enabled() else x", {("no-grad", None), ("inference", None)}),
        ("return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)) * n", None),
    ],
)
def test_a_call_is_informative_if_eager_does_something_else(
    text: str, keys: set[Key] | None, level: Level, case: Callable[[str, str], Case]
) -> None:
    numbers: set[Key] = {("number", 2), ("float", 2)}
    assert told(case(forward(text), ARGS), level) == (numbers if keys is None else keys)


def test_a_call_with_other_values_for_what_is_given_twice_is_informative(
    case: Callable[[str, str], Case],
) -> None:
    assert told(case(forward("return x + y"), "(torch.ones(2, 3),) * 2 + (2, True)"), "operators") == {
        ("unlike", 1)
    }


def test_a_call_with_its_keywords_in_another_order_is_informative(case: Callable[[str, str], Case]) -> None:
    """A program that does not sort them exchanges two arguments."""
    keywords = "(torch.ones(2, 3),), {'y': torch.zeros(2, 3), 'n': 2, 'flag': True}"
    told_of = {way for way, _ in told(case(forward("return x + y"), keywords), "operators")}
    assert told_of == {"order"}


def test_what_eager_refuses_tells_nothing(case: Callable[[str, str], Case]) -> None:
    assert told(case(forward("assert flag\n        return x"), ARGS), "operators") == set()
    assert told(case(forward("raise ValueError"), ARGS), "operators") == set()


def test_dynamo_s_graphs_hold_no_sizes_that_operators_take(case: Callable[[str, str], Case]) -> None:
    flat = case(forward("return x.flatten()"), ARGS)
    assert ("size", 0) in told(flat, "operators") and ("size", 0) not in told(flat, "functions")


def test_each_call_begins_with_the_same_model_and_leaves_nothing(case: Callable[[str, str], Case]) -> None:
    moving = case(
        """
class Model(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x, y, n, flag):
        Model.calls += 1
        self.count.add_(1)
        y = x * Model.calls if self.count < 2 else y + torch.rand(())
        torch.set_grad_enabled(False)
        print("hello")
        return y
""",
        ARGS,
    )
    before = {**read_process_state(), "global random number generator": b""}
    assert told(moving, "functions") == set()
    assert {**read_process_state(), "global random number generator": b""} == before
    model, _ = build(moving, "cpu")
    assert type(model).__dict__["calls"] == 0


def test_a_model_that_cannot_be_put_back_is_built_anew(case: Callable[[str, str], Case]) -> None:
    recast = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.ones(2, 3))

    def forward(self, x, y, n, flag):
        self.b.data = self.b.double()
        return x * self.b * (2 if flag else n)
"""
    assert told(case(recast, "(torch.ones(2, 3), torch.zeros(2, 3), 3, True)"), "functions") == {("flag", 3)}


def test_informative_calls_come_first_and_the_rest_keeps_its_order(
    case: Callable[[str, str], Case],
) -> None:
    chosen = case(forward("return x + y if flag else x * n"), ARGS)
    _, examples = build(chosen, "cpu")
    usual = [one for one in examples.deviations(DEVIATIONS.keys(), "") if one.deviation != "flag"]
    flag = next(one for one in examples.deviations({"flag"}, ""))
    given = [*usual[:5], flag, *usual[5:]]
    assert informative_first(given, chosen, "cpu", "operators", 6) == [flag, *usual]
    assert informative_first(given, chosen, "cpu", "operators", 5) == given
    assert informative_first(given, replace(chosen, thorough=True), "cpu", "operators", 6) == given


def test_all_modes_of_a_case_get_it_told_once(
    case: Callable[[str, str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = case(forward("return x + y if flag else x"), ARGS)
    model, examples = build(chosen, "cpu")
    state = state_snapshot(model)
    informative_calls.cache_clear()
    for _ in range(3):
        plan = plan_calls(state, examples, ("nonstrict", "strict"), chosen)
        assert len(plan.deviations) == DEVIATING_CALLS and plan.deviations[0].deviation == "flag"
    assert informative_calls.cache_info().misses == 1
    monkeypatch.setattr(model_calls, "TRIED", 0)
    informative_calls.cache_clear()
    rotated = {
        plan_calls(state, examples, ("strict",), replace(chosen, source=f"{n}")).deviations[0].deviation
        for n in range(9)
    }
    assert len(rotated) > 1
    assert torch.is_grad_enabled()

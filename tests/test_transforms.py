"""What transforms do, and that they find nothing where there is nothing to find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from harness.case import Case
from harness.judge.verdict import judge
from harness.paths import parse
from harness.paths.transforms import TRANSFORMS

VIEWS = """
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("whole", torch.ones(3))
        self.part = self.whole[:2]

    def forward(self, x):
        return x + self.whole

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)
"""
TWICE = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.other = nn.ReLU()

    def forward(self, x):
        return self.other(self.layer(self.layer(x)))
"""
NAMES = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(3, 3))
        self.second = self.first

    def forward(self, x):
        return self.second(self.first(x))
"""
CLEARED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.ones(1))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return x + 1
"""


def preserved(model: nn.Module, name: str) -> tuple[str, ...]:
    names: tuple[str, ...] = TRANSFORMS[name].function(model)["preserve_module_call_signature"]
    return names


def test_calls_by_each_name_of_a_module_are_preserved(case: Callable[[str], Case]) -> None:
    model = case(NAMES).build().model
    assert preserved(model, "preserve") == ("first", "first.0", "second", "second.0")
    assert preserved(model, "preserve_leaves") == ("first.0",)


@pytest.mark.parametrize("body", [VIEWS, TWICE, NAMES])
@pytest.mark.parametrize("name", ["swap", "swap_leaves", "swap_one"])
def test_swapped_models_share_what_eager_shares(case: Callable[[str], Case], body: str, name: str) -> None:
    verdict = judge(case(body), [parse(f"nonstrict+preserve+{name}:unflatten")])
    assert verdict.valid and verdict.findings == ()
    assert [result.status for result in verdict.paths] == ["ok"]


def test_the_calls_behind_a_dispatcher_get_the_state_as_well(case: Callable[[str], Case]) -> None:
    model = case(TWICE).build().model
    x = torch.ones(2, 3)
    kept = TRANSFORMS["preserve"].function(model)
    unflattened = torch.export.unflatten(torch.export.export(model, (x,), **kept))
    fresh = case(TWICE).build().model
    swapped = TRANSFORMS["swap_one"].function(unflattened, fresh)
    assert swapped.other is fresh.other and swapped.layer is not fresh.layer
    torch.testing.assert_close(swapped(x), fresh(x), rtol=0, atol=0)


def test_a_slice_goes_with_the_container_that_is_swapped(case: Callable[[str], Case]) -> None:
    """With a module under two names, slices have names of their own."""
    sliced = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.other = nn.Tanh()
        self.seq = nn.Sequential(nn.ReLU(), self.other)

    def forward(self, x):
        return self.seq[:1](self.seq(self.other(x)))
"""
    verdict = judge(case(sliced), [parse("nonstrict+preserve+swap:unflatten")])
    assert verdict.findings == ()
    assert verdict.paths[0].excused == ("slices-have-names-of-their-own",)


def test_what_unflatten_clears_away_is_there_for_the_next_path(case: Callable[[str], Case]) -> None:
    paths = ["nonstrict:unflatten", "nonstrict+retie:module"]
    verdict = judge(case(CLEARED), [parse(path) for path in paths])
    assert {str(finding.path) for finding in verdict.findings} == {"nonstrict:unflatten@cpu"}
    assert [result.status for result in verdict.paths] == ["finding", "ok"]

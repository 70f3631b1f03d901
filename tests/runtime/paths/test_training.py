"""Gradients after decompositions, training, gradients of gradients, threads, tensors that are leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.transforms.threads import threaded
from exportdiff.runtime.paths.transforms.training import differentiated

TAUGHT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.teacher = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        return (self.student(x) - target).square().mean()
"""
UNDER_NO_GRAD = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    @torch.no_grad()
    def forward(self, x):
        return self.linear(x)
"""
DETACHED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        return y + (y.round() - y).detach() * self.linear.weight.sum().detach()
"""
FROZEN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3).requires_grad_(False), nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.last(self.norm(self.first(x)).relu()).sigmoid()
"""
TIED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.there = nn.Linear(3, 3)
        self.back = nn.Linear(3, 3)
        self.back.weight = self.there.weight
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.back(self.drop(self.there(x)).tanh())
"""
DOUBLED_THEN_MOVED = """
class Step(nn.Module):
    def forward(self, x, double):
        return x * 2 if double else x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x):
        return self.step(self.step(x, True), False)
"""
"""Whichever thread comes first, one of them runs its steps in the wrong order."""
LEARNED_BUFFER = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3, requires_grad=True))

    def forward(self, x):
        return x * self.scale
"""

ROWS = "(torch.arange(12.0).sin().view(4, 3).requires_grad_(),)"


def signatures(case: Case, *paths: str) -> set[tuple[str, ...]]:
    verdict = judge(case, [parse(path) for path in paths])
    assert verdict.valid and not verdict.unjudged
    return {finding.signature for finding in verdict.findings}


COUNTING = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        {write}
        return x * self.count
"""
NORM = """
from torch.utils.checkpoint import checkpoint

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return {call}
"""


@pytest.mark.parametrize("body", [TAUGHT, UNDER_NO_GRAD])
def test_what_runs_under_no_grad_gets_no_gradient_after_decompositions(
    case: Callable[[str], Case], body: str
) -> None:
    paths = "nonstrict+functionalize:module", "nonstrict+decompose:unflatten"
    assert signatures(case(body), *paths) == {("gradients", "mismatch", "none", "state", "new")}


def test_what_is_detached_gets_none_either(case: Callable[[str], Case]) -> None:
    assert signatures(case(DETACHED), "nonstrict+functionalize:module") == set()
    (found,) = signatures(case(DETACHED), "nonstrict+decompose:module")
    assert found[:3] == ("gradients", "mismatch", "value")


def test_frozen_parameters_stay_frozen(case: Callable[..., Case]) -> None:
    """The gradients of the others differ by rounding alone."""
    paths = "nonstrict+decompose:module", "nonstrict+functionalize:unflatten"
    found = signatures(case(FROZEN, ROWS), *paths)
    assert not [words for words in found if words[0] == "gradients"]


@pytest.mark.parametrize("body", [FROZEN, TIED])
def test_right_models_are_trained_differentiated_and_called_in_threads(
    case: Callable[..., Case], body: str
) -> None:
    paths = [
        "nonstrict+trained:module",
        "nonstrict+trained:unflatten",
        "nonstrict+differentiated:unflatten",
        "nonstrict+functionalize+differentiated:module",
        "nonstrict+threaded:module",
    ]
    verdict = judge(case(body, ROWS), [parse(path) for path in paths])
    assert {str(result.path): result.status for result in verdict.paths} == {
        f"{path}@cpu": "ok" for path in paths
    }


def test_threads_take_the_call_variants_of_each_other(case: Callable[[str], Case]) -> None:
    found = signatures(case(DOUBLED_THEN_MOVED), "nonstrict+preserve+threaded:unflatten")
    assert found == {("outputs", "mismatch", "value", "fresh")}


@pytest.mark.parametrize(("statement", "expected"), [("add_(1)", [2, 3, 4]), ("clamp_(max=1)", [0, 0, 0])])
@pytest.mark.parametrize("data", ["", ".data"])
def test_calls_that_write_to_the_state_follow_one_another(
    statement: str, expected: list[int], data: str, case: Callable[[str], Case]
) -> None:
    body = COUNTING.format(write=f"self.count{data}.{statement}")
    results = threaded(case(body).build().model)(torch.ones(2))
    assert [int(result[0]) for result in results] == expected


def test_a_backward_pass_of_a_transform_leaves_the_statistics(case: Callable[[str], Case]) -> None:
    statistics = []
    for call in ("self.norm(x)", "checkpoint(self.norm, x, use_reentrant=False)"):
        model = case(NORM.format(call=call)).build().model
        differentiated(model)(torch.ones(2, 3))
        statistics.append(model.state_dict())
    assert all(map(torch.equal, *(each.values() for each in statistics)))


def test_a_seed_that_only_eager_sets_says_nothing_about_threads(case: Callable[[str], Case]) -> None:
    """Export drops torch.manual_seed, which other checks report."""
    model = """
class Model(nn.Module):
    def forward(self, x):
        torch.manual_seed(0)
        return x * 2
"""
    assert signatures(case(model), "nonstrict+threaded:module") == set()


def test_a_tensor_of_the_state_stays_a_leaf(case: Callable[[str], Case]) -> None:
    found = signatures(case(LEARNED_BUFFER), "nonstrict:module", "nonstrict+reload:module")
    assert found == {("state", "mismatch", "leaf", "buffer", "at-start")}


IN_A_LIST = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.layers = nn.Linear(3, 3), [nn.Linear(3, 3)]

    def forward(self, x):
        return self.linear(x), self.layers[0](x)
"""


def test_that_a_result_requires_no_gradient_changes_no_loss(case: Callable[[str, str], Case]) -> None:
    # Export takes the parameters of a module in a list for constants, as the base path shows.
    model = case(IN_A_LIST, "(torch.ones(2, 3),)")
    assert not judge(model, [parse("nonstrict+trained:module")], ["outputs"]).findings

"""A custom autograd function in a model: what export documents about it, and what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.observing.gradients import gradients
from exportdiff.runtime.paths import select_paths

MODEL = """
class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.{forward}

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.linspace(0.2, 1.6, 3))

    def forward(self, x):
        return Rounded.apply(x * self.w){after}
"""
PATHS = select_paths(["nonstrict:module"])


@pytest.mark.parametrize("after", ["", " + 1"])
def test_another_gradient_is_documented(after: str, case: Callable[[str, str], Case]) -> None:
    model = case(MODEL.format(forward="round()", after=after), "(torch.ones(2, 3),)")
    (result,) = judge(model, PATHS, ["outputs", "gradients"]).paths
    assert result.status == "ok" and "custom-backward-is-not-kept" in result.excused


def test_another_value_is_not(case: Callable[[str, str], Case]) -> None:
    text = MODEL.format(forward="mul(1 + torch.compiler.is_exporting())", after="")
    findings = judge(case(text, "(torch.ones(2, 3),)"), PATHS, ["outputs"]).findings
    assert [each.signature for each in findings] == [("outputs", "mismatch", "value", "fresh")]


def test_functions_of_torch_are_not_custom() -> None:
    def customized(function: type[torch.autograd.Function]) -> bool:
        x = torch.ones(2, requires_grad=True)
        result = function.apply(x)  # type: ignore[no-untyped-call]  # torch does not annotate it
        return gradients({"output": result * 2, "x": x}).customized

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    assert customized(Twice)
    Twice.__module__ = "torch.nn.something"
    assert not customized(Twice)

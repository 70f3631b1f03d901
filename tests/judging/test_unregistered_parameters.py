"""A parameter that no module has registered: the program takes it for a constant, without a word."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.runtime.paths import select_paths

MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {{"v": nn.Parameter(torch.ones(3))}}

    def forward(self, x):
        return {result}
"""
VIEW = "torch.no_grad()(lambda: self.held['v'][:2])()"


@pytest.mark.parametrize("result", ["self.held", "x * self.held['v']", VIEW])
def test_that_its_results_require_no_gradient_is_a_finding(
    result: str, case: Callable[[str, str], Case]
) -> None:
    model = case(MODEL.format(result=result), "(torch.ones(2, 3),)")
    (finding,) = judge(model, select_paths(["nonstrict:module"]), ["outputs"]).findings
    assert finding.signature[:3] == ("outputs", "mismatch", "requires-grad")


@pytest.mark.parametrize("kept", ["self.buffer.copy_(self.held['v'])", "x.mul_(self.held['v'])"])
@pytest.mark.parametrize("path", ["nonstrict:module", "pipeline:stages"])
def test_that_what_they_are_written_into_requires_no_gradient_is_a_finding(
    kept: str, path: str, case: Callable[[str, str], Case]
) -> None:
    text = MODEL.format(result="x + self.buffer")
    text = text.replace("self.held =", "self.register_buffer('buffer', torch.ones(3))\n        self.held =")
    model = case(text.replace("return", f"{kept}\n        return"), "(torch.ones(2, 3),)")
    findings = judge(model, select_paths([path]), ["outputs", "inputs", "state"]).findings
    assert {finding.evidence.aspect for finding in findings} == {"requires-grad"}


COMPUTED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.{name} = {held}

    def forward(self, x):
        return x * self.{read} + self.scale
"""


@pytest.mark.parametrize(
    ("name", "held", "read"),
    [("weight", "self.scale * 2", "weight"), ("held", "[self.scale * 2]", "held[0]")],
)
def test_that_export_detaches_what_was_computed_from_a_parameter_is_documented(
    name: str, held: str, read: str, case: Callable[[str, str], Case]
) -> None:
    model = case(COMPUTED.format(name=name, held=held, read=read), "(torch.ones(2, 3),)")
    verdict = judge(model, select_paths(["nonstrict:module"]), ["outputs", "state", "gradients"])
    assert not verdict.findings
    (path,) = verdict.paths
    assert "computed-attributes-are-detached" in path.excused


PRODUCT = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.held = [nn.Linear(64, 64)]

    def forward(self, x):
        w = self.held[0].weight
        return {result}
"""


@pytest.mark.parametrize("path", ["nonstrict:module", "pipeline:stages"])
@pytest.mark.parametrize("outputs", ["y", "(y, y)"])  # of two, a write to one shows in the other
def test_that_a_product_with_one_may_round_otherwise_is_documented(
    outputs: str, path: str, case: Callable[[str, str], Case]
) -> None:
    # at::matmul makes one matrix of the first operand if the second requires grad, and a batch if not.
    result = f"(lambda y: {outputs})(nn.functional.linear(x.transpose(0, 1), w))"
    model = case(PRODUCT.format(result=result), "(torch.randn(2, 3, 64),)")
    (judged,) = judge(model, select_paths([path]), ["outputs", "aliasing"]).paths
    assert judged.status == "ok"  # whether the two kernels round alike depends on the processor


def test_that_it_gives_another_value_is_not(case: Callable[[str, str], Case]) -> None:
    other = "x @ w + 1 if torch.compiler.is_exporting() else x @ w"
    model = case(PRODUCT.format(result=other), "(torch.randn(5, 64),)")
    verdict = judge(model, select_paths(["nonstrict:module"]), ["outputs"])
    assert [finding.signature[:3] for finding in verdict.findings] == [("outputs", "mismatch", "value")]

"""The backend ``torchao``: on what its paths agree, what it refuses, and faults that are planted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.runtime.paths import select_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.core.finding import Finding

pytest.importorskip("torchao", reason="pip install 'exportdiff[torchao]'")

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3)
        self.one, self.two = nn.Linear(3, 8), nn.Linear(8, 4)

    def forward(self, x, *, scale):
        means = self.norm(self.conv(x)).mean((2, 3))
        return {"out": self.two(torch.relu(self.one(means))) * scale, "rows": x.shape[0], "x": x}


def make():
    torch.manual_seed(0)
    return Model().eval(), (torch.randn(3, 1, 4, 4),), {"scale": torch.full((4,), 2.0)}


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows", min=2, max=9)}, "scale": None}


def probes():
    return [((torch.ones(5, 1, 4, 4),), make()[2])]
"""
RUNNERS = ("observed", "unquantized", "quantized")


def judged(source: str) -> tuple[Mapping[str, str], Mapping[str, list[Finding]]]:
    """Judge a model on all paths of the backend; return outcomes and findings by runner."""
    verdict = judge_case(case_from_source(source), select_paths(["torchao:*"]))
    assert verdict.valid, verdict.invalid_reason
    outcomes = {each.path.runner: each.outcome for each in verdict.paths}
    findings = {
        each.path.runner: [one for one in verdict.findings if each.path in one.shown_on]
        for each in verdict.paths
    }
    return outcomes, findings


def test_all_paths_agree_on_a_dynamic_model() -> None:
    outcomes, findings = judged(MODEL)
    assert not any(findings.values()) and outcomes == dict.fromkeys(RUNNERS, "agrees")


def test_a_model_that_trains_is_refused() -> None:
    outcomes, _ = judged(MODEL.replace(".eval()", ""))
    assert outcomes == dict.fromkeys(RUNNERS, "refused")


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from torchao.quantization.pt2e import quantize_pt2e
    from torchao.quantization.pt2e.observer import HistogramObserver

    forward = HistogramObserver.forward
    with monkeypatch.context() as patch:
        # An observer that clamps, in place of one that only looks.
        patch.setattr(HistogramObserver, "forward", lambda self, x: forward(self, x).clamp(max=0.1))
        _, findings = judged(MODEL)
    assert [(each.check, each.signature[2]) for each in findings["observed"]] == [("outputs", "value")]
    assert findings["unquantized"] == []

    convert = quantize_pt2e.convert_pt2e

    def negated(model: Any) -> Any:
        made = convert(model)
        for node in made.graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default):
            node.target = torch.ops.aten.neg.default
        made.recompile()
        return made

    with monkeypatch.context() as patch:
        patch.setattr(quantize_pt2e, "convert_pt2e", negated)
        _, findings = judged(MODEL)
    assert [(each.check, each.signature[2]) for each in findings["unquantized"]] == [("outputs", "value")]
    assert findings["observed"] == []

    def halved(model: Any) -> Any:
        made = convert(model)
        return lambda *args, **kwargs: {**(out := made(*args, **kwargs)), "out": out["out"].half()}

    with monkeypatch.context() as patch:
        patch.setattr(quantize_pt2e, "convert_pt2e", halved)
        _, findings = judged(MODEL)
    for runner in ("unquantized", "quantized"):
        assert [(each.check, each.signature[2]) for each in findings[runner]] == [("outputs", "dtype")]


def test_values_of_eight_bits_are_judged_loosely(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchao.quantization.pt2e import quantize_pt2e

    convert = quantize_pt2e.convert_pt2e

    def scaled(model: Any) -> Any:
        made = convert(model)
        return lambda *args, **kwargs: {**(out := made(*args, **kwargs)), "out": out["out"] * factor}

    monkeypatch.setattr(quantize_pt2e, "convert_pt2e", scaled)
    factor = 1.1
    assert judged(MODEL)[1]["quantized"] == []
    factor = 100.0
    assert [each.signature[2] for each in judged(MODEL)[1]["quantized"]] == ["value"]

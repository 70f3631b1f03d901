"""Export in other settings of the process: what must stay as it is, and what a program keeps of a setting."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
import torch

from exportdiff.core.case import Case
from exportdiff.core.finding import Finding
from exportdiff.judging.checks.outputs import OutputLeaf, PathRaised
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.repro import repro_source
from exportdiff.runtime.observing.process_state import read_process_state
from exportdiff.runtime.paths import parse, select_paths
from exportdiff.runtime.paths.transforms import TRANSFORMS
from support.in_process import run_script
from support.of_this_torch import only_on_the_pinned_torch

SETTINGS = [name for name, each in TRANSFORMS.items() if each.at == "setting"]
CONSTANT = """
class Model(nn.Module):
    def forward(self, x):
        return x + torch.arange(3) / 7
"""
REGION = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        with {region}:
            y = self.linear(x)
        return self.linear(x), y
"""
READS_MODE = """
class Model(nn.Module):
    def forward(self, x):
        return x + 1 if torch.is_grad_enabled() else x - 1
"""
BUFFERED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return (x * self.count).softmax(-1) + self.linear.bias
"""


def under(case: Case, *names: str, then: str = ":module") -> Verdict:
    verdict = judge(case, [parse(f"nonstrict+{name}{then}") for name in names])
    assert verdict.valid
    return verdict


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_left_as_it_was(name: str) -> None:
    before = read_process_state()
    with TRANSFORMS[name].function():
        assert name == "under_inference_mode" or read_process_state() != before
    assert read_process_state() == before


def test_a_model_that_reads_no_setting_agrees_in_all(case: Callable[[str], Case]) -> None:
    verdict = under(case(BUFFERED), *SETTINGS)
    assert [each.outcome for each in verdict.paths] == ["agrees"] * len(SETTINGS)


def the_finding(verdict: Verdict) -> Finding:
    (finding,) = verdict.findings
    return finding


@only_on_the_pinned_torch
def test_a_program_has_the_default_dtype_of_its_export(
    case: Callable[[str], Case], tmp_path: pathlib.Path
) -> None:
    model = case(CONSTANT)
    finding = the_finding(under(model, "under_float64", "under_no_grad"))
    assert isinstance(finding.evidence, OutputLeaf) and finding.evidence.leaf.word == "dtype"
    assert finding.path == parse("nonstrict+under_float64:module")
    file = tmp_path / "repro.py"
    file.write_text(repro_source(finding, model.source))
    code, printed = run_script(file)
    assert code == 1 and "eager gives torch.float64, under_float64+module gives torch.float32" in printed


@only_on_the_pinned_torch
@pytest.mark.parametrize("region", ["torch.enable_grad()", "torch.set_grad_enabled(True)"])
def test_a_program_is_decomposed_under_no_grad(case: Callable[[str], Case], region: str) -> None:
    model = case(REGION.format(region=region))
    assert under(model, "under_no_grad").findings == ()
    finding = the_finding(under(model, "under_no_grad", then="+decompose:module"))
    assert isinstance(finding.evidence, PathRaised) and finding.stage == "lower"


def test_regions_that_change_nothing_are_decomposed_under_no_grad(case: Callable[[str], Case]) -> None:
    model = case(REGION.format(region="torch.no_grad()"))
    findings = under(model, "under_no_grad", then="+decompose:module").findings
    assert {each.check for each in findings} <= {"gradients"}  # no_grad blocks get gradients: a known bug


def test_a_model_that_reads_the_grad_mode_is_not_judged_in_another(case: Callable[[str], Case]) -> None:
    verdict = under(case(READS_MODE), "under_no_grad", "under_inference_mode", "under_other_modes")
    assert [each.path.transforms for each in verdict.paths] == [("under_other_modes",)]
    assert {each.reason for each in verdict.unjudged} == {"eager returns other results in its settings"}


def test_a_setting_needs_an_export_and_comes_before_other_transforms() -> None:
    assert select_paths(["strict+under_no_grad+reload:unflatten"])
    with pytest.raises(ValueError, match="exports nothing"):
        parse("compile+under_no_grad:compiled")
    with pytest.raises(ValueError, match="in the order"):
        parse("nonstrict+reload+under_no_grad:module")


def test_autocast_is_that_of_the_cpu(case: Callable[[str], Case]) -> None:
    with TRANSFORMS["under_autocast"].function():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16

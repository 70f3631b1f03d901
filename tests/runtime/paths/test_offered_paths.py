"""What torch offers around a program: methods, archives, fewer checks, and torch.compile of what runs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from exportdiff.core.case import Case, case_from_source
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.lab.faults import FAULTS
from exportdiff.repro import repro_source
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.transforms.archives import archived, extra_files
from exportdiff.runtime.paths.transforms.methods import method, method_of_part
from exportdiff.runtime.paths.transforms.serving import unguarded

HEADER = "import torch\nfrom torch import nn\n"
BRANCHES = (
    HEADER
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Linear(3, 3)

    def forward(self, x):
        x = self.child(x)
        return x + 1 if x.shape[0] % 2 == 0 else x - 1

def make():
    return Model(), (torch.ones(4, 3),)

def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}

def probes():
    return [((torch.ones(3, 3),), {})]
"""
)
BREAKS = (
    HEADER
    + """
class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x

def make():
    return Model(), (torch.ones(2, 3),)
"""
)
OFFERED = (
    *("nonstrict:module", "nonstrict+extra_files:module", "nonstrict+archived:module"),
    *("nonstrict+method:module", "nonstrict+method_of_part:module", "nonstrict+optimized:module"),
)
"""Paths that check the guards of what was exported."""
FREE = ("nonstrict+unguarded:module", "strict+unguarded:module", "compile:fullgraph")


def along(source: str, *paths: str) -> Verdict:
    return judge(case_from_source(source), [parse(path) for path in paths])


def test_a_branch_on_a_size_is_refused_by_the_same_guard_on_all_of_these_paths() -> None:
    verdict = along(BRANCHES, *OFFERED, *FREE)
    (finding,) = verdict.findings
    assert finding.signature[:3] == ("guards", "crash", "refused")
    assert {str(path.path.without_device) for path in verdict.paths if path.status == "ok"} == set(FREE)
    assert {path.status for path in verdict.paths} == {"ok", "finding"}


def test_only_a_full_graph_refuses_a_break() -> None:
    verdict = along(BREAKS, "compile:compiled", "compile:fullgraph")
    assert not verdict.findings
    assert [result.reason for result in verdict.paths] == ["", "dynamo-unsupported"]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor, twice: bool = False) -> torch.Tensor:
        result: torch.Tensor = self.child(x)
        return result * 2 if twice else result


def test_a_method_takes_the_place_of_forward() -> None:
    model, args = Model(), (torch.ones(2, 3),)
    wanted = model(*args, twice=True)
    for changed in (method(model), method_of_part(Model().requires_grad_(False))):
        program = torch.export.export(changed, args, {"twice": True}, strict=False)
        assert torch.equal(program.module()(*args, twice=True), changed(*args, twice=True))
    assert torch.equal(model(*args, twice=True), wanted)
    with pytest.raises(NotImplementedError, match="only encode"):
        type(model).forward(model)  # type: ignore[call-arg]  # mypy knows the class that it was


def test_a_program_comes_back_from_an_archive_with_others() -> None:
    args = (torch.ones(2, 3),)
    program = torch.export.export(Model(), args)
    for back in (archived(program), extra_files(program)):
        assert torch.equal(back.module()(*args), program.module()(*args))
        assert back.state_dict.keys() == program.state_dict.keys()


def test_a_module_without_guards_takes_what_its_guards_refuse() -> None:
    case: Case = case_from_source(BRANCHES)
    built = case.build()
    program = torch.export.export(built.model, built.args, dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
    odd = torch.ones(3, 3)
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(odd)
    assert unguarded(program)(odd).shape == odd.shape


STAGES = (
    HEADER
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.two = nn.Linear(3, 3)
        self.two.bias = self.one.bias

    def forward(self, x):
        return self.two(torch.relu(self.one(x)))

def make():
    return Model(), (torch.arange(6.0).reshape(2, 3) / 6,)
"""
)


AGAIN = """self.one(x)
        return self.one(self.three(self.one(x)))"""


def test_a_schedule_trains_stages_as_eager_trains_the_model() -> None:
    verdict = along(STAGES, "pipeline:scheduled")
    assert [path.status for path in verdict.paths] == ["ok"]
    random = STAGES.replace("self.one(x)))", "self.one(x))) * torch.rand(1)")
    assert not along(random, "pipeline:scheduled").findings, "a schedule draws in another order"


def test_a_schedule_trains_a_layer_that_two_stages_call() -> None:
    again = STAGES.replace("self.two.bias = self.one.bias", "self.three = nn.Linear(3, 3)")
    again = again.replace("return self.two(torch.relu(self.one(x)))", AGAIN)
    assert [path.status for path in along(again, "pipeline:scheduled").paths] == ["ok"]


@pytest.mark.parametrize("result", ['{"y": y}', "[y, y]", "y.sum()", "(y, x)", "self.two.weight", "(y, 2)"])
def test_a_schedule_is_not_judged_on_results_that_it_cannot_return(result: str) -> None:
    source = STAGES.replace("return self.two", "y = self.two")
    source = source.replace("(self.one(x)))", f"(self.one(x)))\n        return {result}")
    verdict = along(source, "pipeline:scheduled")
    assert [str(each.path) for each in verdict.unjudged] == ["pipeline:scheduled@cpu"]
    assert "a schedule" in verdict.unjudged[0].reason


def test_a_repro_file_says_that_the_graph_is_whole() -> None:
    fault = FAULTS["a_full_graph_subtracts"]
    with fault.plant():
        (finding,) = along(fault.source, "compile:fullgraph").findings
    assert "fullgraph=True" in repro_source(finding, fault.source)

"""The pipeline mode: what is compared with what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.export import Dim

from exportdiff.core.case import Case
from exportdiff.judging.verdict import judge
from exportdiff.known.attribution.knowledge import knowledge
from exportdiff.runtime.inputs.copies import CALLS
from exportdiff.runtime.observing.observation import PipelinedObservation
from exportdiff.runtime.patching.installed import only_these_fixes
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.paths.run.by_export import observe_paths
from exportdiff.runtime.paths.stopwatch import Stopwatch
from support.folders import CORPORA

PATHS = select_paths(["pipeline:stages"])


def test_it_has_no_probes(case: Callable[[str], Case]) -> None:
    """``pipeline`` takes no dynamic shapes: other sizes than the example's prove nothing."""
    model = "class Model(nn.Module):\n    def forward(self, x):\n        return x + x.shape[0]"
    dynamic = replace(
        case(model),
        dynamic_shapes=lambda: {"x": {0: Dim.DYNAMIC}},
        probes=lambda: [((torch.ones(4, 3),), {})],
    )
    (seen,) = observe_paths(dynamic, PATHS, Stopwatch())
    assert isinstance(seen, PipelinedObservation) and len(seen.calls) == len(seen.reference.calls) == CALLS
    assert judge(dynamic, PATHS).findings == ()


def test_python_state_is_that_of_the_first_call(case: Callable[[str], Case]) -> None:
    counts = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x + self.calls
"""
    assert judge(case(counts), PATHS).findings == ()


def test_a_failed_export_has_one_signature(case: Callable[[str], Case]) -> None:
    fails = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buf", torch.ones(2))

    def forward(self, x):
        self.buf = self.buf
        return x.narrow(0, 0, 1)
"""
    (plain,) = judge(case(fails), select_paths(["nonstrict:module"])).findings
    (piped,) = judge(case(fails), PATHS).findings
    assert plain.kind == "crash" and plain.signature == piped.signature


def test_values_between_stages_are_leaves(case: Callable[[str], Case]) -> None:
    """Autograd refuses to write to them: that is documented, where export goes through it is not."""
    writes = """
class Child(nn.Module):
    def forward(self, x):
        x.unsqueeze(0).relu_()
        return x * 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.w = nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
        return self.child(x * self.w)
"""
    verdict = judge(case(writes), PATHS)
    assert verdict.findings == () and verdict.paths[0].excused == ("stages-begin-with-leaves",)


@pytest.mark.parametrize("requires", [True, False])
def test_a_stage_gets_another_tensor(case: Callable[[str, str], Case], requires: bool) -> None:
    """What it returns unchanged is the leaf; an input that requires no grad is the tensor itself."""
    returns = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Flatten()

    def forward(self, x):
        return self.layer(x)
"""
    verdict = judge(case(returns, f"(torch.ones(2, 3).requires_grad_({requires}),)"), PATHS)
    assert verdict.findings == ()
    assert verdict.paths[0].excused == (("stages-begin-with-leaves",) if requires else ())


@pytest.mark.parametrize("arguments", ["torch.ones(6).view(2, 3).requires_grad_()", "torch.ones(2, 3)"])
def test_a_view_under_no_grad_takes_after_the_leaf(case: Callable[[str, str], Case], arguments: str) -> None:
    """A view that requires grad by itself has a base that does not; the leaf of the stage has no base."""
    views = """
class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x.view(-1)
"""
    fix = knowledge(CORPORA).fixes.get("pipeline_keeps_subgraphs")
    if fix is None:
        pytest.skip(f"torch {torch.__version__} needs another fix for no_grad in a pipeline")
    with only_these_fixes((fix,)):
        verdict = judge(case(views, f"({arguments},)"), PATHS)
    assert verdict.findings == ()
    assert verdict.paths[0].excused == (("stages-begin-with-leaves",) if "requires" in arguments else ())

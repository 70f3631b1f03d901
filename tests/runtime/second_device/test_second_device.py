"""The second device: memory is real, paths run on it, and where it cannot be built a command says so.

Processes of their own load it: autograd counts the devices at the first backward pass of a process.
"""

from __future__ import annotations

import shutil

import pytest
import torch

from exportdiff.cli import main
from exportdiff.core.case import case_from_source
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.runtime import second_device
from exportdiff.runtime.paths import select_paths
from exportdiff.runtime.processes.in_child import call_fresh

BUILDS = pytest.mark.skipif(bool(second_device.why_not()), reason="needs g++ and ninja")
SECONDS = 600
MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        x.mul_(self.count)
        return self.linear(x) * self.count, x.t()


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 3),)
"""


def seen_of_memory() -> dict[str, object]:
    """Do what only real memory shows."""
    second_device.load()
    x = torch.zeros(2, 3, device="second")
    x.t()[0] = 5
    written = x.cpu().tolist()
    x.t_()
    part = x[1:].untyped_storage()._cdata == x.untyped_storage()._cdata
    leaf = torch.ones(2, 2).to("second").requires_grad_()
    torch.autograd.backward((leaf @ leaf).sum())
    assert leaf.grad is not None
    refused = ""
    try:
        x + torch.ones(3, 2)
    except RuntimeError as error:
        refused = str(error)
    return {
        "written through a view": written,
        "strides": x.stride(),
        "one storage": part,
        "bytes": x.resize_(4, 4).untyped_storage().nbytes(),
        "gradient": (leaf.grad.device.type, leaf.grad.cpu().tolist()),
        "refused": "on the same device" in refused,
    }


def judged_on_it() -> Verdict:
    """Judge a model on the device."""
    second_device.load()
    globs = ["nonstrict:*", "strict:module", "nonstrict+todevice:module", "nonstrict+reload:module"]
    return judge(case_from_source(MODEL), select_paths(globs, ["second"]))


@BUILDS
def test_memory_is_real() -> None:
    assert call_fresh(SECONDS, seen_of_memory) == {
        "written through a view": [[5, 0, 0], [5, 0, 0]],
        "strides": (1, 3),
        "one storage": True,
        "bytes": 64,
        "gradient": ("second", [[4, 4], [4, 4]]),
        "refused": True,
    }


@BUILDS
def test_paths_run_on_it() -> None:
    verdict = call_fresh(SECONDS, judged_on_it)
    assert isinstance(verdict, Verdict) and verdict.valid and verdict.findings == ()
    seen = [(result.path.device, result.status) for result in verdict.paths]
    assert seen == [("second", "ok")] * 5


def test_a_machine_without_a_compiler_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(second_device, "load", second_device.load.__wrapped__)  # not what it has cached
    assert main(["paths", "--device", "second"]) == 2
    assert "needs g++ and ninja" in capsys.readouterr().err

"""The second device: memory is real, paths run on it, and where it cannot be built a command says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
import torch

from harness import second_device
from harness.case import Case
from harness.cli import main
from harness.judge.verdict import judge
from harness.paths import select_paths

BUILDS = pytest.mark.skipif(bool(second_device.why_not()), reason="needs g++ and ninja")
MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        x.mul_(self.count)
        return self.linear(x) * self.count, x.t()
"""


@pytest.fixture(scope="module")
def second() -> torch.device:
    second_device.load()
    return torch.device("second")


@BUILDS
def test_memory_is_real(second: torch.device) -> None:
    x = torch.zeros(2, 3, device=second)
    x.t()[0] = 5  # through a view
    assert x.cpu().tolist() == [[5, 0, 0], [5, 0, 0]]
    x.t_()
    assert (x.shape, x.stride()) == ((3, 2), (1, 3))
    assert x[1:].untyped_storage()._cdata == x.untyped_storage()._cdata
    assert x.resize_(4, 4).untyped_storage().nbytes() == 64
    with pytest.raises(RuntimeError, match="on the same device"):
        x + torch.ones(4)


@BUILDS
def test_gradients_flow(second: torch.device) -> None:
    x = torch.ones(2, 2).to(second).requires_grad_()
    torch.autograd.backward((x @ x).sum())
    assert x.grad is not None and x.grad.device.type == "second" and x.grad.cpu().tolist() == [[4, 4], [4, 4]]


@BUILDS
@pytest.mark.parametrize("path", ["nonstrict:*", "strict:module", "nonstrict+todevice:module"])
def test_paths_run_on_it(case: Callable[[str, str], Case], path: str) -> None:
    second_device.load()
    verdict = judge(case(MODEL, "(torch.ones(2, 3),)"), select_paths([path], ["second"]))
    assert verdict.valid and verdict.findings == ()
    assert {(result.path.device, result.status) for result in verdict.paths} == {("second", "ok")}


def test_a_machine_without_a_compiler_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(second_device, "load", second_device.load.__wrapped__)  # not what it has cached
    assert main(["paths", "--device", "second"]) == 2
    assert "needs g++ and ninja" in capsys.readouterr().err

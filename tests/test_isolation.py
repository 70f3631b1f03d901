from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from harness.case import Case
from harness.isolation import Isolation
from harness.paths import select_paths
from harness.verdict import judge

PATHS = select_paths(["nonstrict*"])

COUNTS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("hidden", torch.zeros(3), persistent=False)

    def forward(self, x):
        self.count.add_(1)
        self.hidden.add_(self.count)
        return x + self.hidden
"""


def test_paths_do_not_see_each_other(case: Callable[[str], Case]) -> None:
    assert judge(case(COUNTS), PATHS).findings == ()


def test_without_isolation_this_model_looks_like_a_bug(
    case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Isolation, "restore", lambda self: True)
    findings = judge(case(COUNTS), PATHS).findings
    assert [finding.signature[:3] for finding in findings] == [("state", "mismatch", "value")]


HISTORY = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("part", torch.zeros(4)[1:])

    def forward(self, x):
        self.part.add_(self.weight)
        return x + self.part
"""


def test_a_buffer_that_cannot_be_restored_means_another_export(
    case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    restored: list[bool] = []
    restore = Isolation.restore

    def noted(self: Isolation) -> bool:
        restored.append(restore(self))
        return restored[-1]

    monkeypatch.setattr(Isolation, "restore", noted)
    assert judge(case(HISTORY), PATHS).findings == ()
    assert restored == [True, False]


def test_restores_values_metadata_and_history() -> None:
    base = torch.arange(6.0)
    whole, part, weight = base, base.detach()[4:], torch.nn.Parameter(torch.ones(2))
    tensors = [whole, part, weight]
    isolation = Isolation(tensors)
    before = [tensor.detach().clone() for tensor in tensors]
    whole.resize_(2, 3).t_()
    whole.mul_(weight[0])
    part.add_(1)
    with torch.no_grad():
        weight.zero_()
    history = [tensor.requires_grad for tensor in tensors]
    for _ in range(2):
        assert isolation.restore()
        assert all(torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
    assert whole.untyped_storage()._cdata == part.untyped_storage()._cdata
    assert history == [True, False, True]
    assert [tensor.requires_grad for tensor in tensors] == [False, False, True]
    assert all(tensor.is_leaf for tensor in tensors)

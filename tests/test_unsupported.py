from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.case import Case
from harness.observation import Failure
from harness.paths import select_paths
from harness.unsupported import REFUSALS, refusal
from harness.verdict import judge

TRANSPOSES = """
class Model(nn.Module):
    def forward(self, x):
        return x.t_() + 1
"""
BRANCHES = """
class Model(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else x + 1
"""
TO_NUMPY = """
class Model(nn.Module):
    def forward(self, x):
        return x + float(x.numpy().sum())
"""


@pytest.mark.parametrize(
    ("body", "path", "reason"),
    [
        (TRANSPOSES, "strict:module", "dynamo-unsupported"),
        (BRANCHES, "nonstrict:module", "data-dependent"),
        (BRANCHES, "strict:module", "dynamo-unsupported"),
        (TO_NUMPY, "nonstrict:module", "tensor-to-numpy"),
    ],
)
def test_refusals_of_the_real_thing(case: Callable[[str], Case], body: str, path: str, reason: str) -> None:
    verdict = judge(case(body), select_paths([path]))
    assert verdict.valid and verdict.findings == ()
    assert [(result.status, result.reason) for result in verdict.paths] == [("unsupported", reason)]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("AssertionError", "expected output node"),
        ("KeyError", "'b_n'"),
        ("torch._export.verifier.SpecViolationError", "Buffer is not in the state dict"),
        ("RuntimeError", "r.num() INTERNAL ASSERT FAILED"),
        ("RuntimeError", "The size of tensor a (2) must match"),
        ("ValueError", "too many values to unpack"),
        ("torch._dynamo.exc.InternalTorchDynamoError", "IndexError: list index out of range"),
    ],
)
def test_internal_errors_are_no_refusals(kind: str, message: str) -> None:
    assert refusal(Failure("export", (kind, "Exception"), message, ())) is None


def test_a_refusal_counts_where_it_belongs_only() -> None:
    for rule in REFUSALS:
        types = (rule.type, "Exception")
        at_run = Failure("run", types, "no fake impl registered", ())
        assert not rule.covers(at_run)


def test_every_refusal_says_where_it_is_documented() -> None:
    assert all(rule.documented and rule.name for rule in REFUSALS)

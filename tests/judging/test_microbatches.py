"""A schedule of a pipeline runs the model on two microbatches, one after the other."""

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
        self.last, self.linear = torch.zeros(2), nn.Linear(2, 2)

    def forward(self, x):
        {statement}
        return self.linear(x) + {read}
"""


@pytest.mark.parametrize(
    ("statement", "read", "agrees"),
    [
        ("self.last = self.last + 1", "self.last", True),
        ("pass", "(1 if torch.compiler.is_exporting() else 0)", False),
    ],
)
def test_a_microbatch_sees_no_attribute_of_the_one_before(
    statement: str, read: str, agrees: bool, case: Callable[[str, str], Case]
) -> None:
    model = case(MODEL.format(statement=statement, read=read), "(torch.ones(2, 2),)")
    verdict = judge(model, select_paths(["pipeline:scheduled"]), ["outputs"])
    assert (not verdict.findings) == agrees

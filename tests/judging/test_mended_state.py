"""Fixes of how state is written back: state of every kind stays as right as it is on plain torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from exportdiff.core.case import Case
from exportdiff.fuzzing.campaign.worker import Job, prepared
from exportdiff.judging.exemptions.refusal import fix_refusals
from exportdiff.judging.judge_case import judge_case
from exportdiff.runtime.patching.installed import install, without_fixes
from exportdiff.runtime.paths import select_paths
from support.folders import CORPORA
from support.of_this_torch import skip_unless_tried

PATHS = select_paths(["nonstrict:module", "nonstrict:unflatten", "strict:module"])

STATE = {
    "sparse buffer": 'self.register_buffer("other", torch.eye(3).to_sparse())',
    "sparse constant": "self.other = torch.eye(3).to_sparse()",
    "complex buffer": 'self.register_buffer("other", torch.ones(3, dtype=torch.complex64).conj())',
    "expanded buffer": 'self.register_buffer("other", torch.ones(1).expand(3))',
    "empty buffer": 'self.register_buffer("other", torch.ones(0))',
    "buffer that is no tensor": 'self.register_buffer("other", None)',
}

COUNTS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        STATE
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.count
"""

REGISTERS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count = self.count + 1
        self.register_buffer("last", x + 1)
        return self.last + self.count
"""


@pytest.fixture(autouse=True)
def mended() -> Iterator[None]:
    """Hold the fixes of the corpus."""
    skip_unless_tried()
    prepared(Job(0, PATHS, corpora=CORPORA))
    yield
    install(())


def right(case: Case) -> tuple[set[str], set[str]]:
    """Return the paths that are right on plain torch, and those that are right on mended torch."""
    known = prepared(Job(0, PATHS, corpora=CORPORA))
    assert known is not None
    with without_fixes():
        before = judge_case(case, PATHS)
    after = judge_case(case, PATHS, fix_refusals(known.usable_fixes))
    assert before.valid and after.valid
    first, second = (
        {str(result.path) for result in verdict.paths if result.status == "ok"} for verdict in (before, after)
    )
    return first, second


@pytest.mark.parametrize("state", STATE.values(), ids=STATE.keys())
def test_a_buffer_is_assigned_beside_other_state(state: str, case: Callable[[str], Case]) -> None:
    first, second = right(case(COUNTS.replace("STATE", state)))
    assert first <= second
    assert "nonstrict:module@cpu" in second


def test_an_assigned_sparse_buffer_is_as_right_as_on_plain_torch(case: Callable[[str], Case]) -> None:
    text = COUNTS.replace("STATE", "pass").replace("torch.zeros(3)", "torch.eye(3).to_sparse()")
    text = text.replace("self.count + 1", "self.count * 2").replace("x + self.count", "x + 1")
    first, second = right(case(text))
    assert first <= second


def test_the_buffer_that_forward_registers_is_written_into_no_input(case: Callable[[str], Case]) -> None:
    # What eager leaves in the new buffer is lost, but plain torch also copies it into ``x``.
    known = prepared(Job(0, PATHS, corpora=CORPORA))
    assert known is not None and "buffer_assignment_in_submodule" in known.usable
    registers = case(REGISTERS)
    with without_fixes():
        before = {finding.check for finding in judge_case(registers, PATHS).findings}
    after = {
        finding.check for finding in judge_case(registers, PATHS, fix_refusals(known.usable_fixes)).findings
    }
    assert "inputs" in before
    assert not {"inputs", "outputs", "crash"} & after


KEEPS_ITS_INPUT = """
class Track(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(6))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        before = self.last + self.count
        self.last = (x * 2).view(-1)
        with torch.no_grad():
            self.count = self.count + 1
        return before


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.track = Track()

    def forward(self, x):
        return self.track(x)
"""


def test_a_preserved_layer_assigns_a_view_and_in_a_no_grad_block(case: Callable[[str], Case]) -> None:
    """Two fixes were once wrong here: unflatten raised an error, or the second call gave a wrong result."""
    verdict = judge_case(case(KEEPS_ITS_INPUT), select_paths(["nonstrict+preserve:unflatten"]))
    assert [(each.outcome, each.message) for each in verdict.paths] == [("agrees", "")]

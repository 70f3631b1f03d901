"""Judging torch with the fixes of the corpus in place: real programs."""

from __future__ import annotations

import difflib
import pathlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
import torch

from exportdiff.core.case import Case, case_from_source
from exportdiff.fuzzing.campaign.worker import ExampleResult, Job, prepared, run_examples
from exportdiff.judging.exemptions.refusal import FixRefusal, find_refusal, fix_refusals
from exportdiff.judging.results import Verdict
from exportdiff.judging.verdict import judge
from exportdiff.known.attribution.classification import NEW, Classification
from exportdiff.known.attribution.knowledge import Knowledge, knowledge
from exportdiff.known.attribution.residual import ResidualFinding, sort_residual_findings
from exportdiff.lab.faults import FAULTS
from exportdiff.runtime.observing.failure import failure
from exportdiff.runtime.observing.observation import Call, Observation
from exportdiff.runtime.patching.installed import install
from exportdiff.runtime.paths import parse, select_paths
from support.folders import CORPORA
from support.of_this_torch import HERE, PINNED

PATHS = select_paths(["nonstrict:*"])


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    yield
    install(())


def mended(case: Case, corpora: pathlib.Path) -> tuple[Verdict, Knowledge]:
    known = prepared(Job(0, PATHS, corpora=corpora))
    assert known is not None
    return judge(case, PATHS, refusals=fix_refusals(known.usable_fixes)), known


def test_a_refusal_that_a_fix_declares_is_unsupported(case: Callable[[str], Case]) -> None:
    named = case(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('recompile', torch.ones(3))\n\n"
        "    def forward(self, x):\n        return x + self.recompile\n"
    )
    verdict, _ = mended(named, CORPORA)
    assert not verdict.findings
    reasons = {result.reason for result in verdict.paths if result.status == "unsupported"}
    assert "module_refuses_names_of_graph_module" in reasons
    # What no fix in place declares is a finding.
    assert judge(named, PATHS).findings


SIZES = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, size, empty):
        return x + len(size)


def make():
    return Model(), (torch.ones(3, 2), torch.Size([1]), torch.Size([]))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "size": (None,), "empty": ()}
"""


def test_sizes_that_stay_sizes_can_be_compared_with_dynamic_shapes() -> None:
    """One fix rebuilds a torch.Size as one, and another compares it with its spec, a tuple."""
    verdict, _ = mended(case_from_source(SIZES), CORPORA)
    assert not verdict.findings and {result.status for result in verdict.paths} == {"ok"}


def test_a_declared_refusal_counts_at_any_stage() -> None:
    refusal = FixRefusal("a_fix", "ValueError", "cannot hold")
    raised = failure(ValueError("it cannot hold x"), "run")
    other = failure(TypeError("it cannot hold x"), "run")
    path = PATHS[0]
    call: Any = Call(None, None)  # type: ignore[arg-type]  # neither inputs nor state play a part
    refused: Any = Call(None, None, failure=raised)  # type: ignore[arg-type]  # likewise
    wrong: Any = Call(None, None, failure=other)  # type: ignore[arg-type]  # likewise
    found = find_refusal(Observation(path, calls=(call, refused)), (refusal,))
    assert found is not None and (found.name, found.until.calls) == ("a_fix", (call,))
    assert found.message == "ValueError: it cannot hold x"
    found = find_refusal(Observation(path, failure=raised), (refusal,))
    assert found is not None and (found.name, found.until.failure) == ("a_fix", None)
    assert find_refusal(Observation(path, calls=(wrong,)), (refusal,)) is None


MASKED = """
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, 3))

    def forward(self, x):
        self.mean = x
        return x

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = B()

    def forward(self, x):
        return self.a(x + 1).t_()

def make():
    return Model().eval(), (torch.ones(1, 3),)
"""


def test_what_a_known_bug_hides_is_masked(tmp_path: pathlib.Path) -> None:
    """The assignment is lost, so that nothing shows of the shape, which the corpus is not to know."""
    corpora = tmp_path / "corpora"
    shutil.copytree(CORPORA, corpora)
    (corpora / "fixes" / "refuse_buffers_of_another_shape.patch").unlink()
    for file in (corpora / "open").glob("*.py"):
        if 'fix = "refuse_buffers_of_another_shape"' in file.read_text(encoding="utf-8"):
            file.unlink()
    case = case_from_source(f"import torch\nfrom torch import nn\n{MASKED}")
    verdict, known = mended(case, corpora)
    (left,) = sort_residual_findings(case, verdict, (), known)
    assert isinstance(left, ResidualFinding)
    assert left.classification == Classification("masked", ("buffer_assignment_in_submodule",))
    assert left.finding.path == parse("nonstrict:module@cpu")


def test_what_plain_torch_shows_too_is_new(tmp_path: pathlib.Path) -> None:
    (tmp_path / "open").mkdir()
    entry = next(e for e in knowledge(CORPORA).entries if e.fix == "buffer_assignment_in_submodule")
    shutil.copytree(CORPORA / "fixes", tmp_path / "fixes")
    (tmp_path / "fixes" / f"{entry.fix}.patch").unlink()
    case = case_from_source(entry.file.read_text())
    verdict, known = mended(case, tmp_path)
    assert verdict.findings
    kinds = {
        left.classification
        for left in sort_residual_findings(case, verdict, (), known)
        if isinstance(left, ResidualFinding)
    }
    assert kinds == {NEW}


def test_every_fault_can_be_planted_in_mended_torch() -> None:
    install(())
    elsewhere = refused_faults()
    # Each fault is made for the pinned torch; the fixes must not be why one cannot be planted.
    assert HERE != PINNED or not elsewhere
    prepared(Job(0, PATHS, corpora=CORPORA))
    assert refused_faults() == elsewhere


def refused_faults() -> set[str]:
    """Return the faults whose text this torch does not have."""
    refused = set()
    for fault in FAULTS.values():
        try:
            with fault.plant():
                pass
        except LookupError:
            refused.add(fault.name)
    return refused


def write_fix(corpora: pathlib.Path, path: str, old: str, new: str, head: str = "") -> None:
    """Make a corpus with one fix, ``breaks``, that changes the first line of a file of torch with ``old``."""
    file = pathlib.Path(torch.__file__).parents[1] / path
    lines = file.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if old in line)
    broken = [*lines[:at], lines[at].replace(old, new), *lines[at + 1 :]]
    diff = "".join(difflib.unified_diff(lines, broken, f"a/{path}", f"b/{path}"))
    (corpora / "fixes").mkdir()
    text = f"Break it\n\n{head}Fits: {version('torch').partition('+')[0]}\n---\n{diff}"
    (corpora / "fixes" / "breaks.patch").write_text(text)


def test_a_refusal_of_what_plain_torch_does_right_is_a_regression(tmp_path: pathlib.Path) -> None:
    head = "Kind: refuse\nRefuses: AssertionError: shape_env must not be None\n"
    write_fix(tmp_path, "torch/export/_trace.py", "if fake_mode.shape_env is None:", "if True:", head)
    job = Job(0, select_paths(["nonstrict:module"]), corpora=tmp_path, known_every=2)
    plain = run_examples(replace(job, corpora=None), range(6))
    right = {
        each.index for each in plain if each.verdict and {p.status for p in each.verdict.paths} == {"ok"}
    }
    results = run_examples(job, range(6))
    assert not any(result.error for result in results)
    # Every second program is judged on plain torch as well.
    expected = right & {0, 2, 4}
    judged = [result for result in results if result.index in expected]
    found = [each for result in judged for each in result.classifications.values()]
    assert {each.kind for each in found} == {"regression"}
    assert ("breaks",) in {each.fixes for each in found}
    assert all(statuses(result) == {"finding"} for result in judged)


def statuses(result: ExampleResult) -> set[str]:
    assert result.verdict is not None
    return {each.status for each in result.verdict.paths}


def test_a_fix_that_fails_where_models_are_built_ends_no_campaign(tmp_path: pathlib.Path) -> None:
    path = "torch/nn/modules/module.py"
    write_fix(tmp_path, path, "self._buffers[name] = tensor", "self._buffers[name] = tensor.gone")
    job = Job(0, select_paths(["nonstrict:module"]), corpora=tmp_path, known_every=0)
    results = run_examples(job, range(12))
    assert not any(result.error for result in results)
    failed_fixes = [result for result in results if result.failed_fixes]
    assert {result.failed_fixes for result in failed_fixes} == {("breaks",)}
    plain = run_examples(replace(job, corpora=None), [result.index for result in failed_fixes])
    assert [r.verdict and r.verdict.valid for r in plain] == [
        r.verdict and r.verdict.valid for r in failed_fixes
    ]
    assert any(result.verdict and result.verdict.valid for result in failed_fixes)

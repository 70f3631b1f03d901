"""The backend ``executorch``: what it lowers, what it refuses, what it finds, and faults planted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.runtime.paths import select_paths

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.judging.results import PathResult

pytest.importorskip("executorch.exir", reason="pip install 'exportdiff[executorch]'")

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("count", torch.full((3,), 5.0))

    def forward(self, x, factor: float, *, scale, shift):
        out = torch.nn.functional.gelu(self.linear(x)) * scale * factor + shift
        return {"out": out, "rows": x.shape[0], "none": None}


def make():
    torch.manual_seed(0)
    tensors = {"scale": torch.full((3,), 2.0), "shift": torch.full((3,), 0.5)}
    return Model(), (torch.linspace(-1, 1, 12).view(4, 3), 0.5), tensors


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows")}, "factor": None, "scale": None, "shift": None}


def probes():
    return [((torch.ones(5, 3), 0.5), make()[2]), ((torch.ones(64, 3), 0.5), make()[2])]
"""
COUNTS = MODEL.replace(
    "        out =", "        self.count.add_(1)\n        shift = shift + self.count\n        out ="
)


def judged(source: str, *globs: str) -> tuple[dict[str, PathResult], tuple[Finding, ...]]:
    """Judge a model on paths of the backend."""
    verdict = judge_case(case_from_source(source), select_paths(globs))
    assert verdict.valid, verdict.invalid_reason
    return {each.path.runner: each for each in verdict.paths}, verdict.findings


def test_all_paths_agree_on_a_dynamic_model() -> None:
    paths, findings = judged(MODEL, "executorch:*")
    assert {name: path.outcome for name, path in paths.items()} == dict.fromkeys(
        ("portable", "unplanned", "methods", "xnnpack"), "agrees"
    )
    assert not findings


def test_only_two_methods_of_the_runtime_lose_the_state() -> None:
    paths, findings = judged(COUNTS, "executorch:*")
    assert {name for name, path in paths.items() if path.outcome != "agrees"} == {"methods"}
    assert [each.signature[:3] for each in findings] == [("outputs", "mismatch", "value")]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("scale = torch.linalg.qr(torch.ones(3, 3))[0][0]", "not-core-aten"),
        ("scale = torch.fft.fft(scale).real", "not-core-aten"),
    ],
)
def test_what_executorch_documents_is_refused(statement: str, reason: str) -> None:
    source = MODEL.replace("        out =", f"        {statement}\n        out =")
    paths, findings = judged(source, "executorch:portable")
    assert (paths["portable"].outcome, paths["portable"].reason, findings) == ("refused", reason, ())
    assert "executorch" in paths["portable"].source


def test_an_operator_that_the_runtime_lacks_is_refused() -> None:
    source = MODEL.replace("        out =", "        scale = scale.view(scale.dtype)\n        out =")
    paths, findings = judged(source, "executorch:xnnpack")
    assert (paths["xnnpack"].outcome, paths["xnnpack"].reason) == ("refused", "operator-without-kernel")
    assert "OperatorMissing" in paths["xnnpack"].source and not findings


def test_a_string_among_the_arguments_is_refused() -> None:
    source = MODEL.replace("factor: float", "factor").replace(" * factor", "").replace(", 0.5)", ', "a")')
    source = source.replace('torch.full((3,), "a")', "torch.full((3,), 0.5)")
    paths, findings = judged(source, "executorch:portable")
    assert (paths["portable"].outcome, paths["portable"].reason) == ("refused", "argument-of-python")
    assert not findings


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
    from executorch.runtime import Method

    # The initial value of a buffer is lost.
    with monkeypatch.context() as patch:
        patch.setattr(
            InitializedMutableBufferPass, "placeholder", InitializedMutableBufferPass.__mro__[1].placeholder
        )
        _, (finding,) = judged(COUNTS, "executorch:portable")
        assert (finding.check, finding.signature[2], finding.evidence.call) == ("outputs", "value", 0)

    execute = Method.execute

    def shorter(self: Any, inputs: Any) -> Any:
        outputs = execute(self, inputs)
        return [each[:4] if isinstance(each, torch.Tensor) and each.dim() == 2 else each for each in outputs]

    # Dynamic sizes are those of the example.
    with monkeypatch.context() as patch:
        patch.setattr(Method, "execute", shorter)
        _, (finding,) = judged(MODEL, "executorch:xnnpack")
        assert (finding.check, finding.signature[2], finding.evidence.call) == ("outputs", "shape", 3)

    # Numbers among the inputs are not compared with those of the example.
    def unread(self: Any, inputs: Any) -> Any:
        return execute(self, [0.5 if isinstance(each, float) else each for each in inputs])

    with monkeypatch.context() as patch:
        patch.setattr(Method, "execute", unread)
        _, (finding,) = judged(MODEL, "executorch:portable")
        assert finding.check == "guards"


def test_what_one_path_leaves_in_the_program_does_not_reach_the_next() -> None:
    # to_edge fails on this buffer, and has made it contiguous by then: a second to_edge would succeed.
    shift = 'self.register_buffer("shift", torch.ones(3, 4).t(), persistent=False)'
    source = MODEL.replace("        self.linear", f"        {shift}\n        self.linear")
    source = source.replace("        out =", "        shift = self.shift[0] * shift\n        out =")
    paths, findings = judged(source, "executorch:portable", "executorch:unplanned")
    assert {name: path.outcome for name, path in paths.items()} == dict.fromkeys(
        ("portable", "unplanned"), "differs"
    )
    assert "Missing input spec" in findings[0].title
    # to_edge leaves symbols pending: only where the program is lowered twice on one path, this may be seen.
    source = MODEL.replace("        out =", "        shift = shift * shift.sum().item()\n        out =")
    paths, findings = judged(source, "executorch:portable", "executorch:unplanned", "executorch:methods")
    assert {name for name, path in paths.items() if path.outcome != "agrees"} == {"methods"}
    assert "Pending unbacked symbols" in findings[0].title


def test_a_call_after_a_refused_one_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    from executorch.runtime import Method

    execute, refused = Method.execute, [False]

    def worse_after_refusal(self: Any, inputs: Any) -> Any:
        """Return other values in the call after one that raised."""
        try:
            outputs = execute(self, inputs)
        except Exception:
            refused[0] = True
            raise
        changed = [each + 1 if refused[0] and hasattr(each, "dtype") else each for each in outputs]
        refused[0] = False
        return changed

    monkeypatch.setattr(Method, "execute", worse_after_refusal)
    _, (finding,) = judged(MODEL, "executorch:portable")
    assert finding.signature[:4] == ("guards", "mismatch", "after-refusal", "value")


def test_state_that_calls_have_changed_is_a_limit() -> None:
    # Two calls with other keywords or numbers: eager makes both from the same state.
    paths, findings = judged(COUNTS, "executorch:portable")
    assert not findings
    assert "state-is-not-set-back" in paths["portable"].excused


INFERRED = MODEL.replace('torch.export.Dim("rows")', "torch.export.Dim.AUTO")


def test_sizes_that_an_inferred_range_declares_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from executorch.runtime import Method

    execute = Method.execute

    def shorter(self: Any, inputs: Any) -> Any:
        outputs = execute(self, inputs)
        return [each[:4] if isinstance(each, torch.Tensor) and each.dim() == 2 else each for each in outputs]

    monkeypatch.setattr(Method, "execute", shorter)
    _, (finding,) = judged(INFERRED, "executorch:portable")
    assert (finding.check, finding.signature[2], finding.evidence.call) == ("outputs", "shape", 3)


def test_a_size_that_no_range_declares_may_be_refused() -> None:
    source = INFERRED.replace(
        "        out =", "        scale = scale * 2 if x.shape[0] == 4 else scale\n        out ="
    )
    paths, findings = judged(source, "executorch:portable")
    assert not findings
    assert (paths["portable"].outcome, "sizes-are-not-guarded" in paths["portable"].excused) == (
        "agrees",
        True,
    )


def test_a_size_that_a_guard_excludes_is_not_judged() -> None:
    source = INFERRED.replace(
        "        out =", "        if x.shape[0] == 5:\n            x = x * 2\n        out ="
    )
    paths, findings = judged(source, "executorch:portable")
    assert not findings
    assert "sizes-are-not-guarded" in paths["portable"].excused


def test_a_program_with_a_computed_example_is_lowered_twice() -> None:
    source = MODEL.replace("torch.linspace(-1, 1, 12)", "torch.linspace(-1, 1, 12).requires_grad_()")
    paths, findings = judged(source, "executorch:methods")
    assert (paths["methods"].outcome, findings) == ("agrees", ())

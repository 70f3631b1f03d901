"""The backend ``onnx``: what it converts, what it finds, and faults that are planted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exportdiff.core.case import case_from_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.repro.confirm import confirm
from exportdiff.repro.source import repro_source
from exportdiff.runtime.paths import select_paths

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, {star}scale, shift):
        out = torch.nn.functional.gelu(self.linear(x)) * scale + shift
        return {{"out": out, "rows": x.shape[0], "none": None}}


def make():
    torch.manual_seed(0)
    tensors = torch.full((3,), 2.0), torch.full((3,), 0.5)
    return {made}


def dynamic_shapes():
    return {{"x": {{0: torch.export.Dim("rows", min=2, max=9)}}, "scale": None, "shift": None}}


def probes():
    return [{probe}]
"""
X = "torch.linspace(-1, 1, 12).view(4, 3)"
BY_POSITION = MODEL.format(
    star="", made=f"Model(), ({X}, *tensors)", probe="((torch.ones(5, 3), *make()[1][1:]), {})"
)
BY_NAME = MODEL.format(
    star="*, ",
    made=f'Model(), ({X},), dict(zip(("scale", "shift"), tensors))',
    probe="((torch.ones(5, 3),), make()[2])",
)


def found(source: str, *globs: str) -> dict[str, tuple[Finding, ...]]:
    """Judge a model on paths of the backend; return the findings of each path."""
    verdict = judge_case(case_from_source(source), select_paths(globs))
    assert verdict.valid, verdict.invalid_reason
    assert {each.outcome for each in verdict.paths} <= {"agrees", "differs"}
    return {
        each.path.runner: tuple(one for one in verdict.findings if each.path in one.shown_on)
        for each in verdict.paths
    }


def test_all_paths_agree_on_a_dynamic_model() -> None:
    assert found(BY_POSITION, "onnx:*") == dict.fromkeys(("program", "plain", "file", "external"), ())


NUMBERS = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, n, half):
        return x * n, (x + half).bfloat16()


def make():
    return Model(), (torch.ones(2, 3), 3, torch.ones(3, dtype=torch.bfloat16))


def dynamic_shapes():
    return {"x": None, "n": torch.export.Dim.DYNAMIC, "half": None}
"""
BRANCHES = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] == 3 else x + 1


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def probes():
    return [((torch.ones(3),), {}), ((torch.ones(5),), {})]
"""


@pytest.mark.parametrize("source", [NUMBERS, BRANCHES], ids=["dynamic number, bfloat16", "guard of a branch"])
def test_no_path_reports_what_the_model_allows(source: str) -> None:
    assert found(source, "onnx:*") == dict.fromkeys(("program", "plain", "file", "external"), ())


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("nn.utils.rnn.pack_padded_sequence(x, [3, 1], batch_first=True).data", "operator-not-converted"),
        ("torch.nn.functional.conv1d(x.bfloat16(), x.bfloat16())", "bfloat16-of-operator"),
        ("torch.nn.functional.scaled_dot_product_attention(x, x, x)", "attention-of-other-ranks"),
    ],
)
def test_what_onnx_documents_is_refused(result: str, reason: str) -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        f"        return {result}\n\n\ndef make():\n    return Model(), (torch.ones(2, 3, 3),)\n"
    )
    verdict = judge_case(case_from_source(source), select_paths(["onnx:program", "onnx:file"]))
    assert verdict.valid, verdict.invalid_reason
    assert {(each.outcome, each.reason) for each in verdict.paths} == {("refused", reason)}
    assert not verdict.findings


def test_only_the_returned_program_exchanges_keywords() -> None:
    seen = found(BY_NAME, "onnx:program", "onnx:file")
    (finding,) = seen["program"]
    assert finding.signature[-1] == "order" and not seen["file"]
    assert confirm(repro_source(finding, BY_NAME)).confirmed


def test_layout_is_not_compared_in_deviating_calls_either() -> None:
    transposed = BY_NAME.replace('"rows": x.shape[0]', '"transposed": out.t()')
    assert found(transposed, "onnx:file") == {"file": ()}


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime
    import torch
    from torch.onnx._internal.exporter import _onnx_program

    restored = _onnx_program._from_ort_value

    def negated(value: Any) -> torch.Tensor:
        tensor = restored(value)
        return -tensor if tensor.is_floating_point() else tensor

    with monkeypatch.context() as patch:
        patch.setattr(_onnx_program, "_from_ort_value", negated)
        (finding,) = found(BY_POSITION, "onnx:program")["program"]
        assert (finding.check, finding.signature[2]) == ("outputs", "value")
    run = onnxruntime.InferenceSession.run_with_ort_values

    def last(self: Any, *given: Any) -> Any:
        arrays = [each.numpy() for each in run(self, *given)]
        cut = [each[:1] if each.ndim == 2 else each for each in arrays]
        return [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in cut]

    with monkeypatch.context() as patch:
        patch.setattr(onnxruntime.InferenceSession, "run_with_ort_values", last)
        (finding,) = found(BY_POSITION, "onnx:file")["file"]
        assert (finding.check, finding.signature[2]) == ("outputs", "shape")


def test_what_stops_the_conversion_is_named() -> None:
    source = BY_POSITION.replace('"none": None', '"rank": x.dim()')
    (finding,) = found(source, "onnx:program")["program"]
    assert finding.signature[:4] == ("outputs", "crash", "lower", "AttributeError")


def test_an_error_of_onnx_runtime_is_one_finding_that_says_what_is_wrong() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        "        return x.round()\n\n\ndef make():\n    return Model(), (torch.ones(2, dtype=torch.int64),)\n"
    )
    seen = found(source, "onnx:*")
    (finding,) = {one.fingerprint: one for each in seen.values() for one in each}.values()
    assert finding.signature[:4] == ("outputs", "crash", "lower", "InvalidGraph")
    assert (
        finding.signature[4].startswith("This is an invalid") and "[ONNXRuntimeError]" not in finding.message
    )
    assert confirm(repro_source(finding, source)).confirmed


def test_the_first_error_of_the_optimizer_is_named() -> None:
    source = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("arange", torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return x * self.arange + torch.arange(2)


def make():
    return Model(), (torch.ones(2),)
"""
    (finding,) = found(source, "onnx:program")["program"]
    assert finding.signature[3] == "ValueError" and "already registered" in finding.message


def test_an_error_of_onnxscript_is_named_by_its_text() -> None:
    source = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x % x.shape[0]


def make():
    return Model(), (torch.arange(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}
"""
    (finding,) = found(source, "onnx:program")["program"]
    assert finding.signature[3:] == ("TypeError", "argument must be string bytes like object or")
    assert confirm(repro_source(finding, source)).confirmed


COMPLEX = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.complex(x, x + 1), x.shape[0]


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows")}}
"""


def test_a_complex_result_may_come_as_pairs_of_numbers() -> None:
    assert found(COMPLEX, "onnx:*") == dict.fromkeys(("program", "plain", "file", "external"), ())

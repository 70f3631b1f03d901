"""Backends: the example of docs/guides/write-a-backend.md, installed as a package, and what it promises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import pytest

from exportdiff.cli import main
from exportdiff.core.case import Case, case_from_source
from exportdiff.core.finding import Finding
from exportdiff.judging.exemptions.backend import PROMISES, Backend
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.results import PathResult
from exportdiff.repro.source import repro_source
from exportdiff.runtime.paths import backends, parse, select_paths

GUIDE = File(__file__).parents[2] / "docs" / "guides" / "write-a-backend.md"

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x, *, scale, shift):
        return {"out": torch.relu(self.linear(x)) * scale + shift, "rows": x.shape[0]}


def make():
    kwargs = {"scale": torch.ones(3) * 2, "shift": torch.ones(3)}
    return Model(), (torch.linspace(-1, 1, 12).view(4, 3),), kwargs


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows", min=2, max=9)}, "scale": None, "shift": None}


def probes():
    return [((torch.ones(5, 3),), {"scale": torch.ones(3), "shift": torch.ones(3) * 3})]
"""

COUNTER = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count += x
        x.mul_(2)
        return self.count + x


def make():
    return Model(), (torch.ones(3),)
"""


@pytest.fixture(scope="module")
def numpy_backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Install the example of the guide; return its module."""
    code, toml = (re.search(rf"```{kind}\n(.*?)```", GUIDE.read_text(), re.S) for kind in ("python", "toml"))
    assert code is not None and toml is not None
    folder = tmp_path_factory.mktemp("site")
    (folder / "exportdiff_numpy.py").write_text(code[1])
    metadata = folder / "exportdiff_numpy-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: exportdiff-numpy\nVersion: 1.0\n")
    points = toml[1].replace('[project.entry-points."exportdiff.backends"]', "[exportdiff.backends]")
    (metadata / "entry_points.txt").write_text(points.replace('"', ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        _forget()
        import exportdiff_numpy  # type: ignore[import-not-found]  # the example

        yield exportdiff_numpy
    del sys.modules["exportdiff_numpy"]
    _forget()


def _forget() -> None:
    backends.names.cache_clear()
    backends.backend.cache_clear()


def _judged(source: str, path: str = "numpy:interpreted") -> tuple[PathResult, tuple[Finding, ...]]:
    verdict = judge_case(case_from_source(source), [parse(path)])
    assert verdict.valid, verdict.invalid_reason
    return verdict.paths[0], verdict.findings


def test_the_example_of_the_guide_agrees_with_eager(numpy_backend: Any) -> None:
    result, findings = _judged(MODEL)
    assert (result.outcome, findings) == ("agrees", ())
    assert [str(path) for path in select_paths(["numpy:*"])] == ["numpy:interpreted@cpu"]
    assert _judged(MODEL, "numpy+decompose:interpreted")[0].outcome == "agrees"


def test_wrong_values_are_found_and_shown_in_a_file(
    numpy_backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = numpy_backend._kernels()
    monkeypatch.setattr(numpy_backend, "_kernels", lambda: right | {"aten.relu.default": lambda x: -x})
    _, (finding,) = _judged(MODEL)
    assert finding.signature[:3] == ("outputs", "mismatch", "value")
    monkeypatch.undo()
    text = repro_source(finding, MODEL)
    assert '"numpy==' in text and "def interpreted(ep):" in text and "def _kernels():" in text
    assert "import exportdiff" not in text


def test_swapped_keywords_and_wrong_dynamic_sizes_are_found(
    numpy_backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = numpy_backend.backend.runners["interpreted"]

    def by_order(ep: Any) -> Any:
        run = runner.function(ep)
        return lambda *args, **kwargs: run(*args, **dict(zip(sorted(kwargs), kwargs.values(), strict=True)))

    def fixed(ep: Any) -> Any:
        run = runner.function(ep)
        return lambda x, **kwargs: {**run(x, **kwargs), "rows": 4}

    for function, words in ((by_order, "order"), (fixed, "python-value")):
        changed = {"interpreted": replace(runner, function=function)}
        monkeypatch.setattr(numpy_backend.backend, "runners", changed)
        _, findings = _judged(MODEL)
        assert any(words in finding.signature for finding in findings), words


def test_what_it_refuses_and_what_it_does_not_promise(numpy_backend: Any) -> None:
    refused, findings = _judged(MODEL.replace("torch.relu", "torch.erf"))
    assert (refused.outcome, refused.reason, findings) == ("refused", "no-kernel", ())
    assert "exportdiff-numpy" in refused.source
    counted, findings = _judged(COUNTER)
    assert (counted.outcome, findings) == ("agrees", ())
    assert "does not promise to keep it" in counted.first_call_because


def test_keywords_in_another_order_are_not_judged_after_the_state_has_changed(numpy_backend: Any) -> None:
    source = COUNTER.replace("forward(self, x)", "forward(self, *, x, y)")
    source = source.replace(
        "Model(), (torch.ones(3),)", 'Model(), (), {"x": torch.ones(3), "y": torch.ones(3)}'
    )
    counted, findings = _judged(source)
    assert (counted.outcome, findings) == ("agrees", ())


def test_promised_state_and_writes_are_judged(numpy_backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    more = Backend("numpy", "", promises=("state between calls", "in-place writes"))
    more.runner(numpy_backend.interpreted)
    monkeypatch.setattr(backends, "backend", lambda name: more if name == "numpy" else None)
    _, (finding,) = _judged(COUNTER)
    assert finding.check == "inputs"
    assert ("outputs", 1) in {(each.check, each.evidence.call) for each in finding.consequences}


def exported_by_itself(model: Any, args: Any, kwargs: Any, shapes: Any) -> Any:
    """A runner that starts from the model."""
    import torch

    return torch.export.export(model, args, kwargs, dynamic_shapes=shapes).module()


def negated(model: Any, args: Any, kwargs: Any, shapes: Any) -> Any:
    """A runner that starts from the model, and returns wrong values for the sizes of the probe."""
    import torch

    run = torch.export.export(model, args, kwargs, dynamic_shapes=shapes).module()

    def call(x: Any, **given: Any) -> Any:
        returned = run(x, **given)
        return {**returned, "out": -returned["out"]} if len(x) == 5 else returned

    return call


def test_a_runner_may_start_from_the_model(
    numpy_backend: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    more = Backend("numpy", "", promises=("dynamic sizes",))
    more.from_model(exported_by_itself)
    more.from_model(negated)
    monkeypatch.setattr(backends, "backend", lambda name: more if name == "numpy" else None)
    assert len(select_paths(["numpy:*"])) == 2
    assert _judged(MODEL, "numpy:exported_by_itself")[0].outcome == "agrees"
    _, (finding,) = _judged(MODEL, "numpy:negated")
    assert (finding.check, finding.evidence.call) == ("outputs", 3)
    (tmp_path / "repro.py").write_text(repro_source(finding, MODEL))
    ran = subprocess.run([sys.executable, tmp_path / "repro.py"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "") and ran.stdout.startswith("BUG: value of output 0"), ran
    with pytest.raises(ValueError, match="numpy exports by itself"):
        parse("numpy+decompose:negated")


def test_a_backend_prepares_a_process_once(numpy_backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    more = Backend("numpy", "")
    more.from_model(exported_by_itself)
    prepared: list[str] = []
    more.prepare(lambda: prepared.append("once"))
    monkeypatch.setattr(backends, "backend", lambda name: more if name == "numpy" else None)
    assert len(select_paths(["numpy:*"])) == 1 and not prepared
    for _ in range(2):
        assert _judged(MODEL, "numpy:exported_by_itself")[0].outcome == "agrees"
    assert prepared == ["once"]


def test_paths_lists_what_is_not_promised(numpy_backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "--json", "--paths", "numpy:*", "nonstrict:module"]) == 0
    rows = {row["path"]: row for row in json.loads(capsys.readouterr().out)}
    left = rows["numpy:interpreted@cpu"]["not_promised"]
    assert left == [each for each in PROMISES if each not in ("dynamic sizes", "keyword order")]
    assert rows["nonstrict:module@cpu"]["not_promised"] == []


def test_a_backend_that_is_not_installed_is_named(
    numpy_backend: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(numpy_backend.backend, "requires", ("numpy_of_the_future",))
    assert main(["paths", "--paths", "numpy:*"]) == 2
    said = capsys.readouterr().err
    assert "numpy_of_the_future" in said and "pip install exportdiff-numpy" in said


def test_mistakes_of_a_backend_are_named() -> None:
    with pytest.raises(ValueError, match=r"no promise 'speed'; there are state between calls"):
        Backend("numpy", "", promises=("speed",))  # type: ignore[arg-type]  # the mistake


def test_no_backend_is_imported_before_a_path_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "exportdiff.backends.onnx", raising=False)
    _forget()
    case: Case = case_from_source(COUNTER)
    assert judge_case(case, [parse("nonstrict:module")]).valid
    assert "exportdiff.backends.onnx" not in sys.modules
    assert parse("onnx:file").mode == "onnx" and "exportdiff.backends.onnx" in sys.modules
    assert "onnxruntime" not in sys.modules

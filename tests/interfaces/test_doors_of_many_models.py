"""The command, ``compare``, the fixture and ``assert_export_equivalent`` agree on models of many kinds."""

from __future__ import annotations

import importlib
import json
import pathlib
from typing import Any

import pytest

import exportdiff
from exportdiff.cli import main
from exportdiff.interfaces.pytest_plugin import ExportDifference, ExportEquivalence, Options
from support.unjudged_models import HEAD

PATHS = ("nonstrict:module", "nonstrict:unflatten")
INPUT = "(torch.ones(2, 2),)"


def _body(forward: str, args: str = INPUT, init: str = "", after: str = "") -> str:
    lines = "\n        ".join(forward.splitlines())
    return f"""\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.register_buffer("kept", torch.zeros(2, 2))
        {init or "self.step = 0"}

    def forward(self, x, *more, **named):
        {lines}

def make():
    return Model(), {args}

{after}
"""


def _module(expression: str, args: str = INPUT) -> str:
    return f"def make():\n    return {expression}, {args}\n"


ROWS = "dynamic_shapes = ({0: torch.export.Dim('rows')}, (), {})\n"
MODELS: dict[str, str] = {
    # The first eight run each time.
    "linear": _body("return self.linear(x)"),
    "branch on a value": _body("return x if x.sum() > 0 else -x"),
    "another value under export": _body("return x + (2 if torch.compiler.is_exporting() else 1)"),
    "counter in forward": _body("self.step += 1\nreturn x * self.step"),
    "forward raises": _body("raise ValueError('no')"),
    "probe without dynamic sizes": _body("return x + 1", after="probes = [((torch.ones(3, 2),), {})]"),
    "writes to a buffer": _body("self.kept.add_(x)\nreturn self.kept * 2"),
    "grad mode left off": _body("torch.set_grad_enabled(False)\nraise ValueError('no')"),
    # The others run at night.
    "relu": _module("nn.ReLU()"),
    "sequential": _module("nn.Sequential(nn.Linear(2, 2), nn.Tanh())"),
    "batch norm": _module("nn.BatchNorm1d(2)"),
    "batch norm in eval mode": _module("nn.BatchNorm1d(2).eval()"),
    "dropout": _module("nn.Dropout()"),
    "dropout in eval mode": _module("nn.Dropout().eval()"),
    "lstm": _module("nn.LSTM(2, 2)"),
    "gru": _module("nn.GRU(2, 2)"),
    "attention": _module("nn.MultiheadAttention(2, 1)", "(torch.ones(2, 2),) * 3"),
    "embedding": _module("nn.Embedding(4, 2)", "(torch.arange(3),)"),
    "convolution": _module("nn.Conv1d(2, 2, 1)"),
    "layer norm": _module("nn.LayerNorm(2)"),
    "tuple": _body("return x, x + 1"),
    "dict": _body("return {'a': x, 'b': [x * 2]}"),
    "none": _body("return None"),
    "number": _body("return x, 3"),
    "shape": _body("return x.shape"),
    "input returned": _body("return x"),
    "view": _body("return x.t(), x[0]"),
    "writes to its input": _body("x.add_(1)\nreturn x * 2"),
    "transposes in place": _body("x.t_()\nreturn x + 1"),
    "sorted": _body("return torch.sort(x)"),
    "topk": _body("return x.topk(1)"),
    "infinity": _body("return x / 0"),
    "complex": _body("return torch.view_as_complex(x)"),
    "random": _body("return x + torch.rand(2)"),
    "dtype": _body("return x.double(), x.long(), x > 0"),
    "no grad": _body("with torch.no_grad():\n    y = self.linear(x)\nreturn y + x"),
    "checkpoint": _body("return torch.utils.checkpoint.checkpoint(self.linear, x, use_reentrant=False)"),
    "cond": _body("return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))"),
    "plain list of tensors": _body("return x + self.list[0]", init="self.list = [torch.ones(2)]"),
    "tied weights": _body(
        "return self.other(self.linear(x))",
        init="self.other = nn.Linear(2, 2)\n        self.other.weight = self.linear.weight",
    ),
    "shared module": _body("return self.linear(self.linear(x))"),
    "unused parameter": _body("return x + 1", init="self.unused = nn.Parameter(torch.ones(2))"),
    "value as a number": _body("return torch.ones(int(x.sum()))"),
    "nonzero": _body("return x.nonzero()"),
    "array": _body("return torch.from_numpy(x.detach().numpy() + 1)"),
    "global counter": "COUNT = [0]\n" + _body("COUNT[0] += 1\nreturn x * COUNT[0]"),
    "one argument of other size": _body("return x", after="dynamic_shapes = {'y': {0: 2}}"),
    "dtype of a probe": _body("return x", after="probes = [((torch.ones(2, 2).double(),), {})]"),
    "model returned alone": "def make():\n    return Plain()\n",
    "factory raises": "def make():\n    raise KeyError('weights')\n",
    "lazy": _module("nn.LazyLinear(2)"),
}
EXPECTED = dict(zip(list(MODELS)[:8], (0, 2, 1, 0, 2, 2, 0, 2), strict=True))


def _named(name: str, at: int) -> Any:
    return pytest.param(name, at, marks=[] if name in EXPECTED else [pytest.mark.nightly], id=name)


@pytest.mark.usefixtures("no_known_bugs")
@pytest.mark.parametrize(("name", "at"), [_named(name, at) for at, name in enumerate(MODELS)])
def test_the_doors_agree_about_the_verdict(
    name: str,
    at: int,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / f"many_{at}.py"
    file.write_text(HEAD + MODELS[name])
    code = main(["check", f"{file}:make", "--paths", *PATHS, "--json"])
    document = json.loads(capsys.readouterr().out)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(file.stem)
    given: dict[str, Any] = {each: getattr(module, each, None) for each in ("dynamic_shapes", "probes")}
    given["paths"] = PATHS
    try:
        report = exportdiff.compare(module.make, **given)
    except exportdiff.UsageError:
        assert code == 2 and document["judged"] is False
    else:
        assert report.exit_code() == code
        ours = report.as_dict()
        assert _outcomes(ours) == _outcomes(document)
        assert [each["signature"] for each in ours["findings"]] == [
            each["signature"] for each in document["findings"]
        ]
    assert code == EXPECTED.get(name, code)
    fixture = ExportEquivalence(Options((), None, None, "any", 0.0, tmp_path), ())
    for door in (exportdiff.assert_export_equivalent, fixture):
        assert _passes(door, module.make, given) == (code == 0)


def _outcomes(document: dict[str, Any]) -> dict[str, str]:
    return {path: each["outcome"] for path, each in document["paths"].items()}


def _passes(door: Any, make: object, given: dict[str, Any]) -> bool:
    try:
        door(make, **given)
    except (AssertionError, ExportDifference, exportdiff.UsageError):
        return False
    return True

"""``exportdiff check --program FILE.onnx``: ONNX Runtime runs what somebody else has converted."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import torch

from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.given import Given
from exportdiff.interfaces.checking.in_process import judge_in_process
from exportdiff.interfaces.checking.loading import load
from exportdiff.runtime.paths import parse, select_paths

for _name in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: pip install 'exportdiff[onnx]'")

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x, *, scale):
        return {"y": torch.relu(self.fc(x)) * scale, "scale": scale}


class Changed(Net):
    def forward(self, x, *, scale):
        return {"y": torch.tanh(self.fc(x)) * scale, "scale": scale}


def made(kind=Net):
    return kind().eval(), (torch.randn(5, 3),), {"scale": torch.tensor(2.0)}


def make():
    return made()


def seeded():
    torch.manual_seed(0)
    return made()


def changed():
    torch.manual_seed(0)
    return made(Changed)


def larger():
    model, args, kwargs = made()
    model.head = nn.Linear(4, 4)
    return model, args, kwargs
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("onnx")
    (made / "net.py").write_text(MODEL)
    model, args, kwargs = load(Target.parse(f"{made / 'net.py'}:seeded")).build()[:3]
    torch.onnx.export(model, args, made / "net.onnx", kwargs=kwargs, dynamo=True, verbose=False)
    (made / "broken.onnx").write_bytes(b"?")
    return made


def case(folder: pathlib.Path, name: str, file: str = "net.onnx") -> Any:
    given = Given(pathlib.Path(file), folder=folder)
    return load(Target.parse(f"{folder / 'net.py'}:{name}"), given=given)


@pytest.mark.parametrize(
    ("name", "outcome"), [("seeded", "agrees"), ("make", "agrees"), ("changed", "differs")]
)
def test_a_file_is_compared_with_the_model(folder: pathlib.Path, name: str, outcome: str) -> None:
    (path,) = judge_in_process(case(folder, name), [parse("onnx:saved")]).paths
    assert path.outcome == outcome


def test_random_weights_are_those_of_the_file(folder: pathlib.Path) -> None:
    (note,) = case(folder, "make").notes
    assert "eager gets those of net.onnx" in note
    with pytest.raises(UsageError, match=r"the file has no weight 'head.weight' of the same shape"):
        case(folder, "larger")


def test_a_broken_file_is_one_line(folder: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="ONNX Runtime does not load it") as raised:
        case(folder, "seeded", "broken.onnx")
    assert "\n" not in str(raised.value)


def test_patterns_do_not_match_the_path_of_a_file() -> None:
    assert "saved" not in {each.runner for each in select_paths(["onnx:*"])}
    with pytest.raises(ValueError, match="saved runs a file of onnx"):
        parse("onnx+decompose:saved")

"""``exportdiff check --program FILE.pte``: the runtime of ExecuTorch runs what somebody else has lowered."""

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
from exportdiff.runtime.paths import parse

pytest.importorskip("executorch", reason="it is not installed: pip install 'exportdiff[executorch]'")

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, *, scale, shift=1.0):
        self.calls.add_(1)
        return {"y": torch.relu(self.fc(x)) * scale + self.calls, "scale": scale + shift}


class Changed(Net):
    def forward(self, x, *, scale, shift=1.0):
        self.calls.add_(2)
        return {"y": torch.relu(self.fc(x)) * scale + self.calls, "scale": scale + shift}


def make(kind=Net):
    return kind().eval(), (torch.ones(5, 3),), {"shift": 2.0, "scale": torch.tensor(2.0)}


def seeded(kind=Net):
    torch.manual_seed(0)
    return make(kind)


def changed():
    return seeded(Changed)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

    made = tmp_path_factory.mktemp("executorch")
    (made / "net.py").write_text(MODEL)
    model, args, kwargs = load(Target.parse(f"{made / 'net.py'}:seeded")).build()[:3]
    edge = to_edge(torch.export.export(model, args, kwargs))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["b_calls"])])
    (made / "net.pte").write_bytes(edge.to_executorch(config).buffer)
    other = to_edge({"encode": torch.export.export(model, args, kwargs)})
    (made / "other.pte").write_bytes(other.to_executorch().buffer)
    (made / "broken.pte").write_bytes(b"?" * 100)
    return made


def case(folder: pathlib.Path, name: str, file: str = "net.pte") -> Any:
    given = Given(pathlib.Path(file), folder=folder)
    return load(Target.parse(f"{folder / 'net.py'}:{name}"), given=given)


@pytest.mark.parametrize(("name", "outcome"), [("seeded", "agrees"), ("changed", "differs")])
def test_a_file_is_compared_with_the_model(folder: pathlib.Path, name: str, outcome: str) -> None:
    (path,) = judge_in_process(case(folder, name), [parse("executorch:saved")]).paths
    assert path.outcome == outcome


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("make", "net.pte", "draws 'fc.weight' at random, and a .pte file has no names of weights"),
        ("seeded", "broken.pte", "executorch.runtime does not load it"),
        ("seeded", "other.pte", "it has no method 'forward'; it has encode"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    folder: pathlib.Path, name: str, file: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        case(folder, name, file)
    assert "\n" not in str(raised.value)

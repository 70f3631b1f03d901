"""Nobody gets exit code 0 for a model that was not judged."""

from __future__ import annotations

import pathlib

import pytest
import torch

import exportdiff
from exportdiff.cli import main
from support.unjudged_models import HEAD, MODELS

ARGUMENTS = {
    "no colon": ["{file}"],
    "no name": ["{file}:"],
    "other name": ["{file}:nothing"],
    "no such file": ["gone.py:make"],
    "no such module": ["gone.module:make"],
    "a folder": ["{folder}:make"],
    "no path": ["{file}:make", "--paths", "nothing:*"],
    "a path that names nothing on this device": ["{file}:make", "--paths", "nonstrict:module@tpu"],
    "paths and all": ["{file}:make", "--all", "--paths", "nonstrict:*"],
    "no baseline": ["{file}:make", "--accept", "gone.json"],
    "a broken baseline": ["{file}:make", "--accept", "{file}"],
    "no time": ["{file}:make", "--limit", "0.1s"],
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_not_judged_is_2(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "model.py"
    file.write_text(HEAD + MODELS[name])
    code = main(["check", f"{file}:make", "--paths", "nonstrict:module", "nonstrict:unflatten"])
    told = capfd.readouterr()
    assert code == 2, told.out
    assert told.err.count("\n") == 1 or "was not judged: " in told.out
    assert "Traceback" not in told.err


@pytest.mark.parametrize("name", ARGUMENTS)
def test_wrong_arguments_are_2_and_one_line(
    name: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(f"{HEAD}def make():\n    return Plain(), X\n")
    code = main(["check", *(each.format(file=file, folder=tmp_path) for each in ARGUMENTS[name])])
    told = capfd.readouterr()
    assert code == 2, told.out
    assert told.err.count("\n") == 1 or "was not judged: " in told.out


REFUSES_TO_BE_CALLED_TWICE = """
class Once(Plain):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        if self.calls:
            raise ValueError("call it once")
        self.calls += 1
        return super().forward(x)

def make():
    return Once(), X
"""


def test_check_says_that_only_the_first_call_was_compared(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(HEAD + REFUSES_TO_BE_CALLED_TWICE)
    assert main(["check", f"{file}:make", "--paths", "nonstrict:module"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "agrees first call only" in told
    assert "Later calls were not compared on 1 path: calls of eager change model.calls" in told


def test_a_backward_pass_that_repeats_batch_norm_is_judged() -> None:
    class Checkpointed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.utils.checkpoint.checkpoint(self.norm, x, use_reentrant=False)
            assert isinstance(y, torch.Tensor)
            return y

    report = exportdiff.compare(
        Checkpointed(), (torch.arange(12.0).reshape(3, 4),), paths=["nonstrict:module"]
    )
    assert report.judged and not report.invalid


CONSTRAINED = """
class Model(nn.Module):
    def forward(self, x):
        return x.view(2)

def make():
    return Model(), X

def dynamic_shapes():
    return ({0: torch.export.Dim("n")},)
"""


def test_a_refusal_of_many_lines_says_what_is_refused(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(HEAD + CONSTRAINED)
    assert main(["check", f"{file}:make", "--paths", "nonstrict:module"]) == 2
    assert "marked n as dynamic but your code specialized it" in capsys.readouterr().out

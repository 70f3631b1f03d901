"""``exportdiff check --inputs``: real inputs from a file."""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from exportdiff.cli import main
from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.given import Given
from exportdiff.interfaces.checking.input_files import read_inputs
from exportdiff.interfaces.checking.loading import load
from exportdiff.interfaces.checking.replaced_inputs import with_inputs

FILE = pathlib.Path("inputs.npz")

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, factor=1, *, bias=None):
        return x * factor + (0 if bias is None else bias)


def make():
    return Model(), (torch.ones(2), 3)


def alone():
    return Model()
"""


class Model(nn.Module):
    def forward(self, x: Any, y: Any = None, /, scale: Any = 1, *, bias: Any = None) -> Any:
        return x


class Open(nn.Module):
    def forward(self, *tensors: Any, **named: Any) -> Any:
        return tensors


def replaced(model: nn.Module, made: tuple[Any, ...], values: dict[str, Any]) -> Any:
    built: Any = with_inputs(lambda: (model, *made), values, FILE)()
    return list(built[1:])


@pytest.mark.parametrize(
    ("made", "values", "expected"),
    [
        (((1,),), {"x": 7}, [(7,), {}]),
        (((1,),), {"0": 7}, [(7,), {}]),
        (((1,),), {"1": 7}, [(1, 7), {}]),
        (((1, 2), {"scale": 3}), {"scale": 7}, [(1, 2), {"scale": 7}]),
        (((1, 2, 3),), {"scale": 7}, [(1, 2, 7), {}]),
        (((1,),), {"scale": 7}, [(1,), {"scale": 7}]),
        (((),), {"bias": 9, "y": 8, "x": 7}, [(7, 8), {"bias": 9}]),
    ],
)
def test_values_replace_arguments(made: tuple[Any, ...], values: dict[str, Any], expected: Any) -> None:
    assert replaced(Model(), made, values) == expected


def test_values_of_a_model_that_takes_any() -> None:
    assert replaced(Open(), ((1,),), {"1": 7, "mask": 8}) == [(1, 7), {"mask": 8}]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"z": 7}, r"forward has no argument 'z'; its arguments are x, y, scale and bias"),
        ({"9": 7}, r"forward has no argument '9'"),
        ({"x": 7, "0": 7}, r"'0' is given twice, by name and by position"),
        ({"bias": 7}, r"missing a required argument: 'x'; its arguments are"),
    ],
)
def test_a_wrong_key_is_explained_in_a_line(values: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says) as raised:
        replaced(Model(), ((),), values)
    assert str(raised.value).startswith("--inputs inputs.npz: ")


def test_files_of_numpy(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "inputs.npz"
    np.savez(file, x=np.arange(3), flag=np.array(True))
    values = read_inputs(file, FILE)
    assert values["x"].equal(torch.arange(3))
    assert values["flag"].dtype is torch.bool


def test_files_of_torch(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "inputs.pt"
    for stored in ({"0": torch.ones(2)}, [torch.ones(2)], torch.ones(2)):
        torch.save(stored, file)
        assert read_inputs(file, FILE)["0"].equal(torch.ones(2))


def test_files_of_safetensors(tmp_path: pathlib.Path) -> None:
    library = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    file = tmp_path / "inputs.safetensors"
    library.save_file({"x": torch.ones(2)}, file)
    assert read_inputs(file, FILE)["x"].equal(torch.ones(2))


def test_a_missing_library_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(UsageError, match="pip install safetensors"):
        read_inputs(tmp_path / "inputs.safetensors", FILE)


class Unsafe:
    """What a file may not hold."""


def test_a_wrong_file_is_explained_in_a_line(tmp_path: pathlib.Path) -> None:
    wrong = {"text.npz": "no array of numbers", "object.npz": "allow_pickle", "none.npz": "it is empty"}
    np.savez(tmp_path / "text.npz", x=np.array(["a"]))
    np.savez(tmp_path / "object.npz", x=np.array([{}], dtype=object))
    np.savez(tmp_path / "none.npz")
    torch.save({"x": Unsafe()}, tmp_path / "unsafe.pt")
    torch.save("text", tmp_path / "text.pt")
    (tmp_path / "broken.pt").write_bytes(b"?")
    wrong |= {
        "unsafe.pt": "it holds other objects than tensors",
        "text.pt": "it holds a str",
        "broken.pt": "torch.save did not write it",
    }
    for name, says in wrong.items():
        with pytest.raises(UsageError, match=says) as raised:
            read_inputs(tmp_path / name, pathlib.Path(name))
        assert str(raised.value).startswith(f"--inputs {name}: ")
        assert "\n" not in str(raised.value)


def test_a_model_with_inputs_from_a_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    np.savez(tmp_path / "inputs.npz", x=np.full(4, 2.0))
    given = Given(inputs=FILE, folder=tmp_path)
    case = load(Target.parse(f"{tmp_path / 'model.py'}:make"), given=given)
    built = case.build()
    assert built.args[0].shape == (4,)
    assert built.args[1] == 3
    assert case.notes == ("x of inputs.npz is float64, and float32 where the model is made",)
    assert load(Target.parse(f"{tmp_path / 'model.py'}:alone"), given=given).build().args[0].shape == (4,)


@pytest.mark.usefixtures("no_known_bugs")
def test_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    torch.save({"x": torch.full((4,), 2.0), "bias": torch.ones(4)}, "inputs.pt")
    torch.save({"mask": torch.ones(4)}, "wrong.pt")
    check = ["check", "model.py:make", "--paths", "nonstrict:module", "--inputs"]
    assert main([*check, "inputs.pt"]) == 0
    assert main([*check, "wrong.pt"]) == 2
    error = capsys.readouterr().err
    assert "--inputs wrong.pt: forward has no argument 'mask'; its arguments are x, factor and bias" in error
    tolerant = [*check, "inputs.pt", "--atol", "0.1", "--metric", "snr=40"]
    assert main(tolerant) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("element is within 0.1 + 0 * abs(eager) of eager, and the signal-to-noise") == 1
    for options in (["none.pt"], ["model.py"], ["inputs.pt", "--minimize", "9s"]):
        assert main([*check, *options]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "--inputs none.pt: there is no such file",
        "--inputs model.py: the name of such a file ends in .safetensors or .npz or .pt",
        "--minimize cannot be combined with --inputs: a repro file has only what NAME makes",
    ]

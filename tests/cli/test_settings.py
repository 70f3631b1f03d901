"""``[tool.exportdiff]`` of pyproject.toml: what it sets, and what one line says about a mistake."""

from __future__ import annotations

import pathlib

import pytest
from torch.export import Dim

from exportdiff.cli import main, make_parser
from exportdiff.cli.settings import OPTIONS, settle
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.loading import load
from exportdiff.interfaces.checking.written_shapes import to_torch

MODEL = """
import torch

def make():
    return torch.nn.ReLU(), (torch.ones(2, 3),)

def make_other():
    return torch.nn.ReLU(), (torch.ones(2, 3),)
"""

SETTINGS = """
[tool.exportdiff]
paths = ["nonstrict:*"]
baseline = "ci/accepted.json"
limit = "90s"
memory = "2G"
network = true

[tool.exportdiff.dynamic-shapes]
"model.py:make" = { input = { 0 = "batch" } }
"""


@pytest.fixture
def project(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(*options: str, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Return the words behind each name that ``--show-settings`` prints."""
    assert main(["check", "model.py:make", "--show-settings", *options]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    return {row[0]: row[1:] for row in rows}


def test_the_file_sets_what_no_option_sets(project: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "pyproject.toml"
    defaults = shown(capsys=capsys)
    assert defaults["paths"] == ["-", "default"] and defaults["limit"] == ["600s", "default"]
    file.write_text(SETTINGS)
    rows = shown("--limit", "10m", capsys=capsys)
    assert rows["paths"] == ["nonstrict:*", str(file)]
    assert rows["baseline"] == [str(project / "ci/accepted.json"), str(file)]
    assert rows["limit"] == ["600s", "--limit"]  # given, although it is the default
    assert (rows["memory"], rows["network"]) == (["2048M", str(file)], ["true", str(file)])
    assert rows["dynamic-shapes"][-1] == str(file)
    assert shown("--paths", "strict:*", capsys=capsys)["paths"] == ["strict:*", "--paths"]
    assert shown("--all", capsys=capsys)["paths"] == ["-", "--all"]


def test_every_key_sets_an_option_of_check(project: pathlib.Path) -> None:
    settable = make_parser().parse_args(["check", "model.py:make"]).settable
    assert {*settable} == {*OPTIONS}


def test_the_shapes_of_a_factory_are_used_from_every_folder(
    project: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text(SETTINGS)
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    for name, expected in (("make", {"input": {0: "batch"}}), ("make_other", None)):
        target = Target.parse(f"../model.py:{name}")
        arguments = make_parser().parse_args(["check", target.written])
        _, written = settle(arguments, target)
        shapes = load(target, written).shapes()
        assert shapes == expected or shapes["input"][0].__name__ == expected["input"][0]  # type: ignore[index]


def test_written_shapes_become_those_of_torch() -> None:
    written = {
        "x": {"0": "batch", "1": "auto"},
        "pair": [{"0": "batch"}, {"1": {"name": "length", "min": 2, "max": 8}}],
        "options": {"mask": {"0": "static", "1": "dynamic", "2": 4}, "other": {}},
    }
    shapes = to_torch(written)
    batch, length = shapes["x"][0], shapes["pair"][1][1]
    assert (batch.__name__, shapes["x"][1]) == ("batch", Dim.AUTO) and shapes["pair"][0][0] is batch
    assert (length.__name__, length.min, length.max) == ("length", 2, 8)
    assert shapes["options"] == {"mask": {0: Dim.STATIC, 1: Dim.DYNAMIC, 2: 4}, "other": {}}


TABLE = "[tool.exportdiff]\n"
MISTAKES = {
    f"{TABLE}path = []": "path: there is no such setting; did you mean paths?",
    f"{TABLE}colour = 1": "colour: there is no such setting; there are",
    f"{TABLE}paths = []": "paths: [] is no list of patterns",
    f"{TABLE}paths = [1]": "paths: [1] is no list of patterns",
    f'{TABLE}paths = ["nothing:*"]': "paths: ",
    f'{TABLE}limit = "soon"': "limit: 'soon' is not a duration",
    f"{TABLE}limit = true": "limit: True is no value of --limit",
    f'{TABLE}memory = "1M"': "memory: '1M' is not a size",
    f"{TABLE}network = 1": "network: 1 is neither true nor false",
    f"{TABLE}baseline = [1]": "baseline: [1] is no value of --accept",
    f'{TABLE}baseline = "gone.json"': "gone.json: No such file",
    f"{TABLE}dynamic-shapes = 1": "dynamic-shapes: write a table",
    f"{TABLE}dynamic-shapes.make = {{}}": "dynamic-shapes 'make': write FILE.py:NAME",
    f'{TABLE}dynamic-shapes."model.py:make" = {{}}': "the table is empty",
    f'{TABLE}dynamic-shapes."model.py:make" = {{ x = 1 }}': "1 is no table of dimensions",
    f'{TABLE}dynamic-shapes."model.py:make" = {{ x = {{ 0 = 1.5 }} }}': "1.5 is no size",
    f'{TABLE}dynamic-shapes."model.py:make" = {{ x = {{ 0 = {{ min = 1 }} }} }}': "is no size",
    "[tool]\nexportdiff = 1": "tool.exportdiff is no table",
    "[tool.exportdiff": "is no TOML file",
}


@pytest.mark.parametrize("text", list(MISTAKES))
def test_a_mistake_is_one_line(project: pathlib.Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "pyproject.toml"
    file.write_text(text)
    assert main(["check", "model.py:make"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(project) in error and MISTAKES[text] in error


def test_a_file_without_the_table_is_passed_over(
    project: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text(SETTINGS.replace("model.py", "inner/model.py"))
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (inner / "model.py").write_text(MODEL)
    monkeypatch.chdir(inner)
    rows = shown(capsys=capsys)
    assert rows["limit"] == ["90s", str(project / "pyproject.toml")]
    assert rows["dynamic-shapes"][-1] == str(project / "pyproject.toml")

"""The function that makes a model is loaded from a file of the user."""

from __future__ import annotations

import pathlib

import pytest
import torch
from torch import nn

from exportdiff import compare
from exportdiff.core.errors import UsageError
from exportdiff.core.target import Target
from exportdiff.interfaces.checking.loading import load

SOURCE = """\
import torch


def make():
    return torch.nn.ReLU(), (torch.ones(2),)
"""


def test_a_model_is_of_its_own_file_in_a_folder_of_links(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports name this file as the place of a difference, after the folder of the process is gone."""
    file = tmp_path / "made_by_a_user.py"
    file.write_text(SOURCE)
    links = tmp_path / "links"
    links.mkdir()
    (links / file.name).symlink_to(file)
    monkeypatch.chdir(links)
    case = load(Target.parse(f"{file.name}:make"))
    assert case.make.__code__.co_filename == str(file)


class Adds(nn.Module):
    def forward(self, x: torch.Tensor, y: dict[str, torch.Tensor]) -> torch.Tensor:
        return x + y["k"]


def test_shapes_of_tensors_are_those_of_their_copies() -> None:
    x, y = torch.ones(4), {"k": torch.ones(4)}
    shapes = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    rows = torch.export.Dim("rows", max=10)
    shapes[x], shapes[y["k"]] = (rows,), {0: rows}
    report = compare(Adds(), (x, y), dynamic_shapes=shapes, paths=["nonstrict:module"])
    assert not report.found
    sizes = [size for path in report.paths for size in path.sizes]
    assert [size.where for size in sizes] == ["args[0].shape[0]", "args[1]['k'].shape[0]"]


def test_a_shape_of_a_tensor_that_is_no_input_is_a_usage_error() -> None:
    shapes = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    another = torch.ones(4)
    shapes[another] = (torch.export.Dim("rows"),)
    with pytest.raises(UsageError, match="not found in args"):
        compare(Adds(), (torch.ones(4), {"k": torch.ones(4)}), dynamic_shapes=shapes)

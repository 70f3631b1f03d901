"""The function that makes a model is loaded from a file of the user."""

from __future__ import annotations

import pathlib

import pytest

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

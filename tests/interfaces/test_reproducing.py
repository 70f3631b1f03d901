"""Where the source of a model is that a test gave to exportdiff."""

from __future__ import annotations

import importlib
import pathlib
import types

import pytest
import torch

from exportdiff.interfaces.checking.reproducing import NoSourceError, source_of

MODULE = """\
import torch


def make():
    return "another"


def tiny():
    return torch.nn.ReLU(), (torch.ones(2),)


def sizes():
    return {"input": {0: torch.export.Dim.AUTO}}


def probes():
    return "of another"


def outer():
    def inner():
        return tiny()

    return inner
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> types.ModuleType:
    folder = tmp_path_factory.mktemp("given")
    (folder / "given_models.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        return importlib.import_module("given_models")


def test_the_functions_get_the_names_that_a_program_has(module: types.ModuleType) -> None:
    source = source_of(module.tiny, module.sizes)
    assert source.factory == "tiny" and source.file.name == "given_models.py"
    assert pathlib.Path(source.folder) == source.file.parent
    defined: dict[str, object] = {}
    exec(source.text, defined)
    model, _ = defined["make"]()  # type: ignore[operator]  # a function
    assert isinstance(model, torch.nn.ReLU)
    assert defined["dynamic_shapes"]() == module.sizes()  # type: ignore[operator]  # the same
    assert "probes" not in defined and defined["probes_other"]() == "of another"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda m: (torch.nn.ReLU(),), "the model was given as an object"),
        (lambda m: (torch.nn.ReLU,), "the model was given as a class"),
        (lambda m: (m.outer(),), "inner is not at the top level of a file"),
        (
            lambda m: (m.tiny, {"input": None}),
            "dynamic_shapes was given as a value: give a function in given",
        ),
        (lambda m: (m.tiny, None, [((), {})]), "probes was given as a value"),
    ],
)
def test_without_a_source_it_says_what_to_do(
    given: types.FunctionType, said: str, module: types.ModuleType
) -> None:
    with pytest.raises(NoSourceError, match=said):
        source_of(*given(module))

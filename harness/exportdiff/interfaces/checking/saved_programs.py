"""Reads files of torch.export.save. What is wrong with a file is reported in one line."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import torch

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib

    from torch.export import ExportedProgram

NAME = "model"
"""The name of the program that ``torch.export.save`` writes, and ``torch.export.load`` reads."""
TRAINING = "TRAINING"
"""The dialect of a program with the operators of the model. ``run_decompositions`` gives another one."""


def read_program(file: pathlib.Path, written: pathlib.Path) -> ExportedProgram:
    """Load a program; messages name the file as it was ``written``. Raises UsageError."""
    if problem := _problem(file):
        raise UsageError(f"--program {written}: {problem}")
    try:
        return torch.export.load(file)
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        raise UsageError(
            f"--program {written}: torch.export.load of torch {torch.__version__} raises "
            f"{type(error).__name__}: {first}"
        ) from None


def is_for_inference(program: ExportedProgram) -> bool:
    """Whether the operators of a program were decomposed, or made functional."""
    return program.dialect != TRAINING


def _problem(file: pathlib.Path) -> str:
    """Return what is wrong with an archive, from the names of its members; empty: nothing is seen."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name.partition("/")[2] or name for name in archive.namelist()]
    except zipfile.BadZipFile:
        return "it is no file of torch.export.save, or a part of it is missing"
    except OSError as error:
        return error.strerror or str(error)
    programs = [name for name in names if name.startswith("models/") and name.endswith(".json")]
    if f"models/{NAME}.json" in programs or "serialized_exported_program.json" in names:
        return ""
    if programs:
        listed = ", ".join(sorted(name.removeprefix("models/").removesuffix(".json") for name in programs))
        return f"it has no program called {NAME!r}, which torch.export.load reads; it has {listed}"
    if any(name.startswith("data/aotinductor/") for name in names):
        return (
            "it is a package of AOTInductor, which has machine code and no exported program; give the file "
            "of torch.export.save"
        )
    if "constants.pkl" in names:
        return "it is a TorchScript archive; give a file of torch.export.save"
    if "data.pkl" in names:
        return "torch.save wrote it, so it has weights and no program; give a file of torch.export.save"
    return "it is no file of torch.export.save"

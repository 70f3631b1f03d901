"""Makes of a case one whose paths run a saved program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.core.saved_program import SavedProgram
from exportdiff.interfaces.checking.executorch_files import check_pte
from exportdiff.interfaces.checking.onnx_files import check_onnx, weights_of_onnx
from exportdiff.interfaces.checking.program_sizes import with_sizes
from exportdiff.interfaces.checking.program_weights import (
    drawn_names,
    draws_weights,
    state_of,
    taken,
    with_weights,
)
from exportdiff.interfaces.checking.saved_programs import is_for_inference, read_program

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Mapping

    import torch

    from exportdiff.core.case import Case


def with_program(case: Case, file: pathlib.Path, written: pathlib.Path) -> Case:
    """Return the case with a saved program; messages name its file as it was ``written``.

    Raises UsageError if it cannot be loaded, or if eager cannot get its weights.
    """
    if file.suffix == ".onnx":
        return _with_onnx(case, file, written)
    if file.suffix == ".pte":
        return _with_pte(case, file, written)
    program = read_program(file, written)
    if draws_weights(case):
        case = _with_weights(case, state_of(program), written)
    own_sizes = case.shapes() is None
    case = with_sizes(case, program)
    return replace(case, program=SavedProgram(file, is_for_inference(program), own_sizes))


def _with_onnx(case: Case, file: pathlib.Path, written: pathlib.Path) -> Case:
    check_onnx(file, written)
    if drawn := drawn_names(case):
        weights = weights_of_onnx(file)
        model = case.build().model
        found = taken(model, weights)
        if lacking := [name for name in drawn if name not in found]:
            raise UsageError(
                f"--program {written}: {case.name} draws its weights at random, and the file has no weight "
                f"{lacking[0]!r} of the same shape to take instead; let it return the weights that were "
                "exported"
            )
        case = _with_weights(case, weights, written)
    return replace(case, program=SavedProgram(file))


def _with_pte(case: Case, file: pathlib.Path, written: pathlib.Path) -> Case:
    check_pte(file, written)
    if drawn := drawn_names(case):
        raise UsageError(
            f"--program {written}: {case.name} draws {drawn[0]!r} at random, and a .pte file has no names of "
            "weights; let it return the weights that were exported"
        )
    return replace(case, program=SavedProgram(file))


def _with_weights(case: Case, weights: Mapping[str, torch.Tensor], written: pathlib.Path) -> Case:
    if not taken(case.build().model, weights):
        return case
    note = f"{case.name} draws its weights at random, so eager gets those of {written}"
    return replace(case, make=with_weights(case.make, weights), notes=(*case.notes, note))

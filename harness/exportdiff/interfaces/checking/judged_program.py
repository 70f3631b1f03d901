"""Makes of a case one whose paths run a saved program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.saved_program import SavedProgram
from exportdiff.interfaces.checking.program_sizes import with_sizes
from exportdiff.interfaces.checking.program_weights import draws_weights, state_of, taken, with_weights
from exportdiff.interfaces.checking.saved_programs import is_for_inference, read_program

if TYPE_CHECKING:
    import pathlib

    from exportdiff.core.case import Case


def with_program(case: Case, file: pathlib.Path, written: pathlib.Path) -> Case:
    """Return the case with a saved program; messages name its file as it was ``written``.

    Raises UsageError if it cannot be loaded.
    """
    program = read_program(file, written)
    notes = case.notes
    if draws_weights(case):
        state = state_of(program)
        if taken(case.build().model, state):
            case = replace(case, make=with_weights(case.make, state))
            notes = (*notes, f"{case.name} draws its weights at random, so eager gets those of {written}")
    own_sizes = case.shapes() is None
    case = with_sizes(case, program)
    saved = SavedProgram(file, is_for_inference(program), own_sizes)
    return replace(case, program=saved, notes=notes)

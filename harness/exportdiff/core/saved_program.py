"""A file with a program that somebody else has exported. Plain data."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass


@dataclass(frozen=True)
class SavedProgram:
    """A file of ``torch.export.save``, which paths run instead of exporting the model."""

    file: pathlib.Path
    for_inference: bool = False
    """Whether its operators were decomposed, or made functional, before it was saved."""
    sizes_are_its_own: bool = False
    """Whether the user declares no dynamic shapes: then the case has those of the program."""

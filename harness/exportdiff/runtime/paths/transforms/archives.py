"""Transforms of a program that save it together with other things, and load it again."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch.export import ExportedProgram


@transform("program", "nonstrict:module", includes=("reload",), cost=35)
def extra_files(ep: ExportedProgram) -> ExportedProgram:
    """Extra files that are saved with a program are loaded unchanged, and do not change the program."""
    given = {"notes.txt": "two\nlines\n", "labels/größe.json": "[]", "empty": ""}
    found = dict.fromkeys(given, "not loaded")
    with tempfile.TemporaryFile() as file:
        torch.export.save(ep, file, extra_files=given)
        file.seek(0)
        loaded = torch.export.load(file, extra_files=found)
    if found != given:
        raise ValueError(f"of the extra files {given}, {found} were loaded")
    return loaded


@transform("program", "nonstrict:module", "nonstrict:unflatten", includes=("reload",), cost=100)
def archived(ep: ExportedProgram) -> ExportedProgram:
    """Several programs that are saved in one archive are loaded unchanged."""
    # Both import torch, and repro files contain this text.
    from torch.export.pt2_archive._package import load_pt2, package_pt2

    class Other(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((2, 3), 0.5))
            self.buffer = torch.nn.Buffer(torch.arange(3.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.weight + self.buffer * torch.tensor([4.0, 5.0, 6.0])

    args = (torch.ones(2),)
    other = torch.export.export(Other(), args)
    with tempfile.TemporaryFile() as file:
        package_pt2(file, exported_programs={"other": other, "model": ep, "last": other})
        file.seek(0)
        loaded = load_pt2(file).exported_programs
    for name in ("other", "last"):
        if not torch.equal(loaded[name].module()(*args), Other()(*args)):
            raise ValueError(f"the program {name!r} of the archive gives another result than its model")
    return loaded["model"]

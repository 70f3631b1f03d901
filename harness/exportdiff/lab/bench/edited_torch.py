"""A torch with one edited line, without a copy of torch: all other files are links to the installed ones."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.core.torch_versions import torch_folder
from exportdiff.runtime.patching.fix import Fix, FixError, read_fix
from exportdiff.runtime.patching.placing import edits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

EDITS = pathlib.Path(__file__).parents[1] / "edits"
"""The folder of the patches; each of them edits one line of torch 2.13.0, and breaks something."""
RELEASE = "2.13.0"
"""The torch that the patches are for."""
BYTE_CODE = "__pycache__"


def read_edits() -> tuple[Fix, ...]:
    """Read the patches, in the order of their names. Raises FixError."""
    return tuple(map(read_fix, sorted(EDITS.glob("*.patch"))))


def edited_file(edit: Fix) -> tuple[pathlib.PurePosixPath, str]:
    """Return the file that a patch edits, from the folder of torch, and its new text. Raises FixError."""
    ((path, (hunk,)),) = edit.files
    lines = (torch_folder().parent / path).read_text(encoding="utf-8").split("\n")
    placed = edits_of(tuple(lines), hunk)
    if placed is None:
        raise FixError(f"{edit.patch} does not fit the installed torch")
    for each in reversed(placed):
        lines[each.start : each.stop] = each.lines
    return pathlib.PurePosixPath(path).relative_to("torch"), "\n".join(lines)


def link_torch(folder: pathlib.Path, file: pathlib.PurePosixPath, text: str) -> None:
    """Make a torch in ``folder`` that is the installed one, but for the text of one file.

    Only the folders on the way to this file are real ones. They have no byte code: Python would write that of
    the edited file over that of the release.
    """
    _link(torch_folder(), folder / "torch", file.parts, text)


def _link(installed: pathlib.Path, made: pathlib.Path, way: Sequence[str], text: str) -> None:
    made.mkdir()
    name, *rest = way
    for each in installed.iterdir():
        if each.name not in (name, BYTE_CODE):
            (made / each.name).symlink_to(each)
    if rest:
        _link(installed / name, made / name, rest, text)
    else:
        (made / name).write_text(text, encoding="utf-8")

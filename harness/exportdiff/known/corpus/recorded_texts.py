"""The text of torch that the fixes were tried on: where it is the same, a fix needs no trial.

A torch whose files were edited has the version of its release, or an uninformative one. So ``texts.json`` in
the folder of the fixes has a digest of each function that a fix changes. ``python -m
exportdiff.known.corpus.recorded_texts CORPORA`` writes it, on the torch that the tests of the corpus run on.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from exportdiff.core.own_code import digest_of
from exportdiff.core.torch_versions import torch_folder, torch_version
from exportdiff.known.corpus.entry import FIXES
from exportdiff.runtime.patching.fixes import read_candidates
from exportdiff.runtime.patching.touched import touched_functions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exportdiff.runtime.patching.fix import Fix, Hunk

RECORD = "texts.json"
_RELEASE = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True)
class RecordedTexts:
    """What the file says. Empty if the corpus has no such file: then versions decide."""

    torch: str = ""
    """The release of torch that has these files."""
    files: Mapping[str, Any] = field(default_factory=dict)

    def edited(self) -> bool:
        """Whether the installed torch is the recorded release, or no release, and has other files."""
        if torch_version() != self.torch and _RELEASE.fullmatch(torch_version()):
            return False
        installed = ((torch_folder().parent / path, text["file"]) for path, text in self.files.items())
        return not all(file.is_file() and _digest(file) == recorded for file, recorded in installed)

    def tried(self, fix: Fix) -> bool:
        """Whether the author of a fix tried it on what is installed, so that it needs no trial."""
        named = torch_version() in fix.fits
        if not self.files or not (named or not _RELEASE.fullmatch(torch_version())):
            return named
        return all(self._same(path, hunks) for path, hunks in fix.files)

    def _same(self, path: str, hunks: tuple[Hunk, ...]) -> bool:
        recorded = self.files.get(path)
        file = torch_folder().parent / path
        if recorded is None or not file.is_file():
            return False
        if recorded["file"] == _digest(file):
            return True
        try:
            functions = touched_functions(str(file), hunks)
        except (OSError, SyntaxError):
            return False
        return functions is not None and functions.items() <= recorded["functions"].items()


@cache
def _digest(file: pathlib.Path) -> str:
    return digest_of([file])


def recorded_texts(corpora: pathlib.Path) -> RecordedTexts:
    """Read the file of a corpus."""
    try:
        return RecordedTexts(**json.loads((corpora / FIXES / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return RecordedTexts()


def texts_to_record(corpora: pathlib.Path) -> dict[str, Any]:
    """Return what the file should say: the functions of the installed torch that its fixes change."""
    files: dict[str, Any] = {}
    for candidates in read_candidates(corpora / FIXES).values():
        for path, hunks in (each for fix in candidates if torch_version() in fix.fits for each in fix.files):
            file = torch_folder().parent / path
            text = files.setdefault(path, {"file": _digest(file), "functions": {}})
            text["functions"] |= touched_functions(str(file), hunks) or {}
    ordered = {
        path: {**text, "functions": dict(sorted(text["functions"].items()))}
        for path, text in sorted(files.items())
    }
    return {"torch": torch_version(), "files": ordered}


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    written = json.dumps(texts_to_record(folder), indent=1)
    (folder / FIXES / RECORD).write_text(f"{written}\n", encoding="utf-8")

"""The fixes that do not fit the text of the installed torch, which may have been edited. Imports no torch."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.own_code import digest_of
from exportdiff.core.torch_versions import torch_digest, torch_folder
from exportdiff.known.corpus.entry import FIXES
from exportdiff.known.corpus.recorded_texts import recorded_texts
from exportdiff.runtime.patching.fixes import read_candidates
from exportdiff.runtime.patching.touched import touched_functions

if TYPE_CHECKING:
    import pathlib

    from exportdiff.runtime.patching.fix import Fix

NAMED = 3
"""So many fixes are named; the others are counted."""


def line_on_left_out_fixes(corpora: pathlib.Path) -> str:
    """Say in one line which fixes do not fit a torch that was edited; empty if all fit, or it was not."""
    if not recorded_texts(corpora).edited():
        return ""
    fixes, left_out = _left_out(corpora)
    if not left_out:
        return ""
    names = ", ".join(left_out[:NAMED]) + (f" and {len(left_out) - NAMED} more" if left_out[NAMED:] else "")
    verbs = "does not fit this torch and is" if len(left_out) == 1 else "do not fit this torch and are"
    return f"{len(left_out)} of {fixes} fixes of known bugs {verbs} left out: {names}"


def _left_out(corpora: pathlib.Path) -> tuple[int, list[str]]:
    """Return the number of fixes, and the names of those that do not fit. The answer is cached on disk."""
    patches = digest_of(sorted((corpora / FIXES).glob("*.patch")))
    key = hashlib.sha256(f"1\0{torch_digest()}\0{patches}".encode()).hexdigest()
    file = cache_folder() / "left-out" / f"{key}.json"
    try:
        number, names = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = read_candidates(corpora / FIXES)
        number = len(found)
        names = [name for name, candidates in found.items() if not any(map(_fits, candidates))]
        write_cache_file(file, json.dumps([number, names]).encode())
    return number, names


def _fits(fix: Fix) -> bool:
    """Whether the hunks of a patch fit the installed files. Whether they work there is another question."""
    try:
        return all(
            touched_functions(str(torch_folder().parent / path), hunks) is not None
            for path, hunks in fix.files
        )
    except (OSError, SyntaxError):
        return False

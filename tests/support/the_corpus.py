"""The corpus of the checkout. Each process reads a file of it once, because several test files need it."""

from __future__ import annotations

from functools import cache

from exportdiff.known.corpus.entry import BACKENDS, FIXES, OPEN, VARIANTS, Entry, find_files, read_entry
from exportdiff.known.corpus.ranking import RootCause, root_causes
from exportdiff.runtime.patching.fix import Fix, read_candidates
from exportdiff.runtime.patching.fixes import choose_patches
from support.folders import CORPORA

FILES = tuple(find_files([CORPORA]))

entry_of = cache(read_entry)

CANDIDATES = read_candidates(CORPORA / FIXES)
"""All patches of each fix."""


def entries(*folders: str) -> list[Entry]:
    """Return the entries of folders of the corpus; without folders, those of root causes and variants."""
    return [entry_of(file) for file in find_files(CORPORA / name for name in folders or (OPEN, VARIANTS))]


@cache
def all_fixes() -> dict[str, Fix]:
    """Return each fix as the patch for this torch. It imports what fixes change, so only tests call it."""
    return choose_patches(CANDIDATES)


@cache
def all_causes() -> tuple[RootCause, ...]:
    """Return the root causes in torch, the most severe first."""
    return root_causes(entry_of(file) for file in FILES if BACKENDS not in file.parts)

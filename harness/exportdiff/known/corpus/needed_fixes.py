"""Reads the fixes that must be installed for a repro file to show its bug."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import FIXES
from exportdiff.runtime.patching.fixes import choose_patch, read_fix

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.runtime.patching.fixes import Fix


def fixes_named(names: Sequence[str], corpora: pathlib.Path) -> tuple[Fix, ...]:
    """Read fixes of a corpus by name. Raises UsageError if one is missing or broken."""
    folder = corpora / FIXES
    files = {name: sorted((*folder.glob(f"{name}.patch"), *folder.glob(f"{name}@*.patch"))) for name in names}
    missing = [name for name in names if not files[name]]
    if missing:
        raise UsageError(f"{folder} has no {missing[0]}.patch; name the corpus that has it with --corpora")
    return tuple(choose_patch(tuple(map(read_fix, files[name]))) for name in names)

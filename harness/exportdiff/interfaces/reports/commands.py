"""The commands that a report tells people to type."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence


def repro_command(file: pathlib.Path, fixes: Sequence[str], corpora: pathlib.Path) -> str:
    """Return the command that runs the repro file of a finding.

    A file that needs fixes shows its bug only while they are in place; the command holds them.
    """
    name = shlex.quote(str(file))
    if not fixes:
        return f"python {name}"
    default = default_corpora()
    corpus = (
        ""
        if default is not None and corpora.resolve() == default.resolve()
        else f" --corpora {shlex.quote(str(corpora))}"
    )
    return f"exportdiff replay {name}{corpus}"

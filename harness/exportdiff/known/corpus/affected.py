"""Writes the versions of torch that show a bug into the header of its file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from exportdiff.known.corpus.entry import HEADER

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = ("affected", "unaffected", "undecided", "regression-since")
_LINE = re.compile(rf"# ({'|'.join(KEYS)}) = .*")
_LIST_GOES_ON = re.compile(r"#  +\S.*|# \]")


def with_versions(
    text: str, affected: Sequence[str], unaffected: Sequence[str], since: str, undecided: Sequence[str] = ()
) -> str:
    """Return the text of a file with these four keys in its header, where its old ones were.

    Empty values are left out. Raises ValueError if the file has no header.
    """
    header = HEADER.search(text)
    if header is None:
        raise ValueError("the file has no '# /// script' header")
    values = zip(KEYS, (list(affected), list(unaffected), list(undecided), since), strict=True)
    # JSON and TOML write strings and lists of strings in the same way.
    new = [f"# {key} = {json.dumps(value)}" for key, value in values if value]
    lines = header["toml"].rstrip("\n").split("\n")
    kept: list[str] = []
    place: int | None = None
    dropping = False
    for line in lines:
        if dropping and _LIST_GOES_ON.fullmatch(line):
            dropping = line != "# ]"
        elif _LINE.fullmatch(line):
            place = len(kept) if place is None else place
            dropping = line.endswith("[")
        else:
            kept.append(line)
    at = len(kept) if place is None else place
    kept[at:at] = new
    return text[: header.start("toml")] + "\n".join(kept) + "\n" + text[header.end("toml") :]

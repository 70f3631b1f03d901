"""The file with the records of a measurement, one line for each: a later measurement continues after them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from exportdiff.core.plain_data import NotPlainError, dumps, loads

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable


def read_records(file: pathlib.Path) -> list[Any]:
    """Return the records; none if there is no file. A line that was cut off is left out."""
    found: list[Any] = []
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                found.append(loads(line))
            except NotPlainError:
                continue
    return found


def append_records(file: pathlib.Path, records: Iterable[object]) -> None:
    """Write records, after a line that was cut off too."""
    file.parent.mkdir(exist_ok=True)
    lines = "".join(f"{dumps(each)}\n" for each in records)
    with file.open("ab+") as out:
        if out.tell():
            out.seek(-1, os.SEEK_END)
            if out.read() != b"\n":
                lines = f"\n{lines}"
        out.write(lines.encode())

"""Put another torch into a file of constraints: ``choose_torch.py constraints.txt 2.11.0``.

``pinned`` leaves the file as it is, ``newest`` takes the line away, so that pip chooses the newest release.
"""

from __future__ import annotations

import pathlib
import re
import sys

LINE = re.compile(r"^torch==.*\n", re.MULTILINE)


def chosen(constraints: str, torch: str) -> str:
    """Return the constraints with this torch. Raises ValueError if they pin no torch."""
    if not LINE.search(constraints):
        raise ValueError("no line begins with torch==")
    if torch == "pinned":
        return constraints
    return LINE.sub("" if torch == "newest" else f"torch=={torch}\n", constraints)


def main(file: str, torch: str) -> None:
    """Rewrite the file."""
    path = pathlib.Path(file)
    path.write_text(chosen(path.read_text(encoding="utf-8"), torch), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

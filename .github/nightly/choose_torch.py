"""Put another torch into constraints.txt: ``choose_torch.py 2.11.0``.

``pinned`` leaves the file as it is, ``newest`` replaces it by constraints-newest.txt.
"""

from __future__ import annotations

import pathlib
import re
import sys

PINNED = pathlib.Path("constraints.txt")
NEWEST = pathlib.Path("constraints-newest.txt")
LINE = re.compile(r"^torch==.*\n", re.MULTILINE)


def chosen(constraints: str, newest: str, torch: str) -> str:
    """Return the constraints with this torch. Raises ValueError if they pin no torch."""
    if torch in ("pinned", "newest"):
        return constraints if torch == "pinned" else newest
    if not LINE.search(constraints):
        raise ValueError("no line begins with torch==")
    return LINE.sub(f"torch=={torch}\n", constraints)


def main(torch: str) -> None:
    """Rewrite the file."""
    texts = [file.read_text(encoding="utf-8") for file in (PINNED, NEWEST)]
    PINNED.write_text(chosen(*texts, torch), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

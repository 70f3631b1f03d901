"""The ids of root causes. Each is assigned once, recorded in the header of its entry, and never reused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ID = re.compile(r"XD(\d{3,})")
_OF_BACKEND = re.compile(r"X[A-Z]\d{3,}")
"""Entries of a backend have ids with another letter: ``XO`` for onnx, ``XE`` for executorch."""


def next_id(texts: Iterable[str]) -> str:
    """Return the id after all that these files have in their headers, or mention elsewhere."""
    numbers = (int(number) for text in texts for number in _ID.findall(text))
    return f"XD{max(numbers, default=0) + 1:03}"


def wrong_id(table: Mapping[str, Any]) -> str:
    """Return a message about a wrong id in ``[tool.exportdiff]``; empty if there is none."""
    own = [table["id"]] if "id" in table else []
    for each in (*own, *table.get("former-ids", ())):
        if not _OF_BACKEND.fullmatch(str(each)):
            return f"has the id {each!r} in [tool.exportdiff]; one is written XD042"
    return "has 'id' and 'variant-of' in [tool.exportdiff]" if own and "variant-of" in table else ""

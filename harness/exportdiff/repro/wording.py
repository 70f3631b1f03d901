"""Which words of an exception's message are the same whenever the same program raises it."""

from __future__ import annotations

import re

_BREAK = re.compile(r"\w*\d\w*|['\"`<>\[\]{}\\/|=\n]+|\.{2,}|\b_\w+|\w+_\w*")
"""What differs between two runs or two versions of torch (numbers, addresses, folders, names in code), and
what a string literal would have to escape."""
_START = re.compile(r"^(?:[a-z]{1,2}(?= ))?\W*")
"""What is no whole word: the rest of "can't", a comma."""
LEAST = 3
"""Words: fewer say too little."""
MOST = 60
"""Characters."""


def plain_part(message: str) -> str:
    """Return the longest part of a message's first line that is plain words; empty if all are too short."""
    first = message.strip().partition("\n")[0]
    parts = (_START.sub("", part.strip()) for part in _BREAK.split(first))
    part = max((part for part in parts if len(part.split()) >= LEAST), key=len, default="")
    return part if len(part) <= MOST else part[:MOST].rpartition(" ")[0]

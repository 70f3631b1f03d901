"""Finds the words of an exception's message that are the same in each run of the program."""

from __future__ import annotations

import re

_BREAK = re.compile(r"\w*\d\w*|['\"`<>\[\]{}\\/|=\n]+|\.{2,}|\b_\w+|\w+_\w*")
"""Parts that differ between runs or versions of torch (numbers, addresses, folders, names in code), or that a
string literal would have to escape."""
_START = re.compile(r"^(?:[a-z]{1,2}(?= ))?\W*")
"""The rest of a word at the start, as of "can't", and punctuation."""
LEAST = 3
"""The least number of words: fewer say too little."""
MOST = 60
"""The largest number of characters."""


def plain_part(message: str) -> str:
    """Return the longest part of a message's first line that is plain words; empty if all are too short."""
    first = message.strip().partition("\n")[0]
    parts = (_START.sub("", part.strip()) for part in _BREAK.split(first))
    part = max((part for part in parts if len(part.split()) >= LEAST), key=len, default="")
    return part if len(part) <= MOST else part[:MOST].rpartition(" ")[0]

"""What an exception says of its cause, in words that do not change from model to model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.observation import is_plumbing

if TYPE_CHECKING:
    from harness.observation import Failure

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w.(\[])")
_WORDS = 8


def crash_signature(failure: Failure) -> tuple[str, ...]:
    """Return the stage, the exception's class, and where in torch (or with which words) it fell."""
    if failure.frames and not is_plumbing(failure.frames[-1]):
        return (failure.stage, failure.name, *failure.frames)
    return (failure.stage, failure.name, message_words(failure.message))


def message_words(message: str) -> str:
    """Return the first few plain words of a message: no names, quotations or numbers."""
    line = message.strip().partition("\n")[0]
    return " ".join(_WORD.findall(_QUOTED.sub(" ", line))[:_WORDS])


def shortened(message: str, lines: int = 5, width: int = 200) -> str:
    """Cut a message to what a person reads first."""
    kept = [line.rstrip() for line in message.strip().splitlines() if line.strip()]
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in kept[:lines])

"""What an exception says of its cause, in words that do not change from model to model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.observation import Failure

# Frames that any error passes through: alone they name no cause, and the message has to.
_PLUMBING = {
    "_ops.py",
    "interpreter.py",
    "module.py",
    "graph_module.py",
    "unflatten.py:forward",
    "_utils.py",
    "eval_frame.py",
    "_contextlib.py",
    "_stats.py",
    "functional.py",
}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w.(\[])")
_WORDS = 8


def crash_signature(failure: Failure) -> tuple[str, ...]:
    """Return the stage, the exception's class, and where in torch (or with which words) it fell."""
    telling = [frame for frame in failure.frames if not _is_plumbing(frame)]
    if telling:
        return (failure.stage, failure.name, *telling)
    return (failure.stage, failure.name, *failure.frames[-1:], message_words(failure.message))


def _is_plumbing(frame: str) -> bool:
    return frame in _PLUMBING or frame.partition(":")[0] in _PLUMBING


def message_words(message: str) -> str:
    """Return the first few plain words of a message: no names, quotations or numbers."""
    line = message.strip().partition("\n")[0]
    return " ".join(_WORD.findall(_QUOTED.sub(" ", line))[:_WORDS])


def shortened(message: str, lines: int = 5, width: int = 200) -> str:
    """Cut a message to what a person reads first."""
    kept = [line.rstrip() for line in message.strip().splitlines() if line.strip()]
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in kept[:lines])

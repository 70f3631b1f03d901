"""An exception in words: stable ones for signatures, and a short text for people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.runtime.observing.failure import is_plumbing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.runtime.observing.failure import Failure

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
# torch/fx/interpreter.py names without quotes which parameter of the graph got nothing, or what is missing.
_NAMED = re.compile(r"(?<=\bfor parameter )\w+|(?<=\bnonexistent target )\S+")
# torch does not quote dtypes either, and they say nothing about the cause.
_DTYPES = re.compile(r"\b(?:[Ff]loat|[Dd]ouble|Half|BFloat16|Long|long int|[Ii]nt|Short|Char|Byte|[Bb]ool)\b")
_WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w.(\[])")
_WORDS = 8


def crash_words(failure: Failure) -> tuple[str, ...]:
    """Return the stage, the exception's class, and where in torch (or with which words) it was raised."""
    if failure.name == "TorchRuntimeError" and (raised := _IN_FAKE.search(failure.message)):
        return (failure.stage, failure.name, message_words(raised[2]))
    innermost = failure.frames[-1] if failure.frames else ""
    if innermost and innermost not in _KERNELS and not is_plumbing(innermost):
        return (failure.stage, failure.name, *failure.frames)
    return (failure.stage, failure.name, message_words(failure.message))


# Dynamo wraps what any operator raises on fake tensors (torch/_dynamo/utils.py, get_fake_value).
_IN_FAKE = re.compile(r"got \w+\((['\"])(.+?)\1\)")
# Below these frames, any operator may raise: its fake kernel, an operator in a region, or a derivative.
_KERNELS = {"fake_tensor.py:_dispatch_impl", "wrap.py:wrapper", "graph.py:_engine_run_backward"}


def message_words(message: str) -> str:
    """Return the first few plain words of a message: no names, quotations, dtypes or numbers."""
    plain = message.strip().partition("\n")[0]
    for peculiar in (_QUOTED, _NAMED, _DTYPES):
        plain = peculiar.sub(" ", plain)
    return " ".join(_WORD.findall(plain)[:_WORDS])


# What torch appends to a message: advice, and tracebacks that name this machine's folders.
_APPENDED = ("While executing ", "Original traceback:", "Use tlparse ", "For more information, run with")
_FOLDER = re.compile(r"[^\s\"']*/(?=torch/)")


def shortened(message: str, lines: int = 5, width: int = 200) -> str:
    """Cut a message to what a person reads first."""
    kept: list[str] = []
    for line in filter(None, map(str.rstrip, message.strip().splitlines())):
        if line.startswith(_APPENDED) or len(kept) == lines:
            break
        line = _FOLDER.sub("", line)
        kept.append(line if len(line) <= width else line[: width - 1] + "…")
    return "\n".join(kept)


def crash_lines(where: str, failure: Failure, other: str = "eager") -> Iterator[str]:
    """Say that something raised where eager did not, with the exception's text."""
    yield f"{where} raised {failure.name}, {other} did not"
    yield shortened(failure.message)

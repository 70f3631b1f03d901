"""Leaves out of a message what is another one in each process. Without torch: campaigns ask it too."""

from __future__ import annotations

import re

_OF_PROCESS = re.compile(
    r"(?<=<eval_with_key>)\.\d+"  # torch counts the code that it makes
    r"| at 0x[0-9a-f]+"
    r"|(?<='>), \d{9,}(?=\)is not tracked with proxy)"  # an id()
    r"|/(?:[\w.-]+/)+(?=aten/src/|c10/|torch/csrc/)"  # where somebody built torch
)
"""What a message says of the process or of the build of torch alone."""


def without_process(message: str) -> str:
    """Return a message without addresses, places of the build, and counts of generated code."""
    return _OF_PROCESS.sub("", message)

"""Removes from a message what differs between processes. Needs no torch, because campaigns import it."""

from __future__ import annotations

import re

from exportdiff.runtime.processes.scratch import PREFIX

_OF_PROCESS = re.compile(
    r"(?<=<eval_with_key>)\.\d+"  # torch counts the code that it makes
    r"| at 0x[0-9a-f]+"
    r"|(?<='>), \d{9,}(?=\)is not tracked with proxy)"  # an id()
    rf"|/(?:[\w.-]+/)*{PREFIX}[\w-]+/"  # the folder of a child process: it has links to the user's files
    r"|/(?:[\w.-]+/)+(?=aten/src/|c10/|torch/csrc/)"  # the folder in which torch was built
)
"""Parts of a message that depend on the process or on the build of torch."""


def without_process_details(message: str) -> str:
    """Return a message without addresses, folders of this process and of the build, and counts of code."""
    return _OF_PROCESS.sub("", message)

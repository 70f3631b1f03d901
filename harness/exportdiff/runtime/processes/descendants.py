"""Ends the processes that a child has started, also those that have left its process group or its session.

Linux gives an orphan to the nearest ancestor that has asked for orphans. Each child asks, so it keeps what it
started; when it ends, the fork server gets what is left. Elsewhere, only process groups are ended.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from exportdiff.runtime.processes.usage import children, process_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h."""
ROUNDS = 50
"""How often processes are looked for: some may start others while they are being ended."""
PAUSE = 0.01
"""Seconds between two rounds."""


def ask_for_orphans() -> None:
    """Let orphans among the descendants of this process become its children."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill(pids: Iterable[int]) -> None:
    """Kill processes; those that are gone, or of another user, are left out."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def end_all() -> None:
    """End all descendants of this process. For the fork server, when the command has ended."""
    for _ in range(ROUNDS):
        running = [*filter(is_running, process_tree(os.getpid())[1:])]
        if not running:
            return
        kill(running)
        time.sleep(PAUSE)


def end_orphans(server: int, living: Collection[int]) -> None:
    """End what dead children have left to the fork server. ``living``: the ids of the other children."""
    for _ in range(ROUNDS):
        left = [pid for pid in children(server) if pid not in living and _is_of_a_child(pid, server)]
        if not left:
            return
        kill(each for pid in left for each in process_tree(pid))
        time.sleep(PAUSE)


def _is_of_a_child(pid: int, server: int) -> bool:
    """Whether a process has left the server's process group, as each child does at its start."""
    try:
        return os.getpgid(pid) != os.getpgid(server) and is_running(pid)
    except ProcessLookupError:
        return False


def is_running(pid: int) -> bool:
    """Whether a process exists that has not ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")

"""How much memory, and how many processes, a process and all that it has started take. Linux only."""

from __future__ import annotations

import os
import pathlib
import re
from contextlib import suppress
from typing import NamedTuple

PROC = pathlib.Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_GONE = (OSError, ValueError, IndexError)
"""What reading of a process raises that has just ended, or on a system without /proc."""


class Usage(NamedTuple):
    """What several processes use together."""

    memory: int
    """Bytes that are not backed by files. Pages that several of them share count once for each."""
    processes: int


def usage(pid: int) -> Usage:
    """Return what a process and its descendants use; nothing if there is no such process."""
    pids = family(pid)
    return Usage(sum(map(_resident, pids)), len(pids))


def family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for each in found:
        with suppress(*_GONE):
            for thread in (PROC / str(each) / "task").iterdir():
                found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def fair_share(pid: int) -> int:
    """Return the bytes that a process and its descendants use; a page that n processes share counts 1/n.

    Takes some milliseconds for each process.
    """
    return sum(_rollup(each, "Pss") for each in family(pid))


def private(pid: int) -> int:
    """Return the bytes that nobody but this process uses: what the machine has again once it ends."""
    return _rollup(pid, "Private_Clean", "Private_Dirty")


def _resident(pid: int) -> int:
    try:
        _, resident, shared, *_ = (PROC / str(pid) / "statm").read_text(encoding="ascii").split()
        return (int(resident) - int(shared)) * _PAGE
    except _GONE:
        return 0


def _rollup(pid: int, *names: str) -> int:
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    except _GONE:
        return 0
    return sum(int(kib) for name, kib in re.findall(r"(\w+): +(\d+) kB", text) if name in names) * _KIB

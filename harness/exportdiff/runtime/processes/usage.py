"""Measures the memory and the number of processes of a process and its descendants. Linux only."""

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
"""What reading raises if a process has just ended, or on a system without /proc."""


class Usage(NamedTuple):
    """What several processes use together."""

    memory: int
    """Bytes that are not backed by files. Pages that several of them share count once for each."""
    processes: int


def usage(pid: int) -> Usage:
    """Return what a process and its descendants use; nothing if there is no such process."""
    pids = process_tree(pid)
    return Usage(sum(map(resident, pids)), len(pids))


def process_tree(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for each in found:
        found += children(each)
    return found


def children(pid: int) -> list[int]:
    """Return the children of a process."""
    found: list[int] = []
    with suppress(*_GONE):
        for thread in (PROC / str(pid) / "task").iterdir():
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def fair_share(pid: int) -> int:
    """Return the bytes that a process and its descendants use; a page that n processes share counts 1/n.

    Takes some milliseconds for each process.
    """
    return sum(map(_proportional, process_tree(pid)))


def resident(pid: int) -> int:
    """Return the bytes of one process that are not backed by files, shared ones too; 0 if it is gone."""
    try:
        _, resident, shared, *_ = (PROC / str(pid) / "statm").read_text(encoding="ascii").split()
        return (int(resident) - int(shared)) * _PAGE
    except _GONE:
        return 0


def _proportional(pid: int) -> int:
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    except _GONE:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * _KIB if found else 0

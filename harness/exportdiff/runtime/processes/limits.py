"""What a child process may use. Drawn programs, corpus files and users' models all run within these limits.

Time is not among them: each task says how long it may take (see ``child``).
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one child process together with all that it has started."""

    memory: int = 4096
    """MiB; a process that takes more is ended. A worker that runs drawn programs takes a tenth of it."""
    processes: int = 200
    """If there are more, all are ended. torch.compile starts one for each core, up to 32."""
    file_size: int = 16384
    """MiB of each file. Writing more raises OSError."""
    network: bool = False
    """Whether it may use the network. Only Linux can forbid it, if it allows user namespaces."""
    devices: str | None = None
    """The GPUs that it sees, as CUDA_VISIBLE_DEVICES names them; None: those that its parent sees."""


_now = Limits()


def limits() -> Limits:
    """Return the limits of the children that this process starts."""
    return _now


@contextmanager
def limited(**changes: Any) -> Iterator[None]:
    """Start children with other limits; ``changes`` are fields of Limits."""
    global _now
    before = _now
    _now = replace(before, **changes)
    try:
        yield
    finally:
        _now = before


def most_of_the_machine() -> int:
    """Return three quarters of the memory of this machine, in MiB: the limit for a model of any size."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return pages // MIB * 3 // 4


def limit_of_the_shell() -> str:
    """Name the limit of CPU time that this process was started with; empty if there is none."""
    seconds, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return "" if seconds == resource.RLIM_INFINITY else f"ulimit -t allows {seconds} s of CPU time"


def limit_files(size: int) -> None:
    """Let this process write no file of more than ``size`` MiB. A lower limit stays as it is."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size *= MIB
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if soft == resource.RLIM_INFINITY or soft > size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def be_killed_first() -> None:
    """If the machine runs out of memory, let Linux end this process before those of the user."""
    if sys.platform == "linux":
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123  # no Path: fork
            file.write("1000")

"""How many processors there are for this process."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use: ``taskset`` may allow fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

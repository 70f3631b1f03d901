"""The machine that a benchmark ran on: figures of two machines must not be compared."""

from __future__ import annotations

import os
import platform
from typing import Any

import torch

from exportdiff.runtime.processes.processors import processors


def describe() -> dict[str, Any]:
    """Return versions, cores, and how busy the machine is with other work."""
    load = os.getloadavg()[0]
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": cores(),
        "load_before": round(load, 2),
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    return processors()


def is_busy(described: dict[str, Any]) -> bool:
    """Whether other work ran on the machine when the benchmark started; then wall times prove nothing."""
    return bool(described["load_before"] > 0.5)

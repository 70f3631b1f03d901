"""Faults: bugs planted in torch, to prove that each check can fail and to time how fast it does."""

from harness.faults import compiling as compiling  # entering its faults is what it is imported for
from harness.faults import exporting as exporting
from harness.faults import lowering as lowering
from harness.faults.registry import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

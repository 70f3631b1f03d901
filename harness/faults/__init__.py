"""Faults: bugs planted in torch, to prove that each check can fail and to time how fast it does."""

from harness.faults import exporting as exporting  # entering its faults is what it is imported for
from harness.faults import faking as faking
from harness.faults import leaving as leaving
from harness.faults import lowering as lowering
from harness.faults import sizing as sizing
from harness.faults import strict as strict
from harness.faults.registry import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

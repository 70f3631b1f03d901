"""Faults: bugs planted in torch, to prove that each check can fail and to time how fast it does."""

from harness.faults import compiling as compiling  # entering its faults is what it is imported for
from harness.faults import exporting as exporting
from harness.faults import faking as faking
from harness.faults import hierarchy as hierarchy
from harness.faults import input_checks as input_checks
from harness.faults import leaving as leaving
from harness.faults import rebuilding as rebuilding
from harness.faults import running as running
from harness.faults import sizing as sizing
from harness.faults import strict as strict
from harness.faults import transforming as transforming
from harness.faults import unlifting as unlifting
from harness.faults.registry import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

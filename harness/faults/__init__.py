"""Faults: bugs planted in torch. They prove that each check can fail, and time the search."""

from harness.faults import compiling as compiling  # importing each module adds its faults to FAULTS
from harness.faults import exporting as exporting
from harness.faults import faking as faking
from harness.faults import hierarchy as hierarchy
from harness.faults import input_checks as input_checks
from harness.faults import rebuilding as rebuilding
from harness.faults import reusing as reusing
from harness.faults import running as running
from harness.faults import side_effects as side_effects
from harness.faults import sizing as sizing
from harness.faults import strict as strict
from harness.faults import transforming as transforming
from harness.faults import unlifting as unlifting
from harness.faults.registry import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

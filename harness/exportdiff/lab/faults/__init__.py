"""Faults: bugs planted in torch. They prove that each check can fail, and time the search."""

from exportdiff.lab.faults import compiling as compiling  # importing each module adds its faults to FAULTS
from exportdiff.lab.faults import exporting as exporting
from exportdiff.lab.faults import faking as faking
from exportdiff.lab.faults import hierarchy as hierarchy
from exportdiff.lab.faults import input_checks as input_checks
from exportdiff.lab.faults import offering as offering
from exportdiff.lab.faults import rebuilding as rebuilding
from exportdiff.lab.faults import reusing as reusing
from exportdiff.lab.faults import running as running
from exportdiff.lab.faults import side_effects as side_effects
from exportdiff.lab.faults import sizing as sizing
from exportdiff.lab.faults import strict as strict
from exportdiff.lab.faults import training as training
from exportdiff.lab.faults import transforming as transforming
from exportdiff.lab.faults import under_settings as under_settings
from exportdiff.lab.faults import unlifting as unlifting
from exportdiff.lab.faults.registry import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]

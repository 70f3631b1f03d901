"""A finding and its program -> a self-contained file that shows exactly this difference."""

from harness.repro.parts import NoReproError
from harness.repro.program import MODULES
from harness.repro.source import Needs, repro_source

__all__ = ["MODULES", "Needs", "NoReproError", "repro_source"]

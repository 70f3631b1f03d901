"""A finding and its program -> a self-contained file that shows exactly this difference."""

from exportdiff.repro.parts import NoReproError
from exportdiff.repro.program import MODULES
from exportdiff.repro.source import Needs, repro_source

__all__ = ["MODULES", "Needs", "NoReproError", "repro_source"]

"""A finding and its program -> a self-contained file that shows exactly this difference."""

from harness.repro.source import MODULES, Needs, NoReproError, repro_source

__all__ = ["MODULES", "Needs", "NoReproError", "repro_source"]

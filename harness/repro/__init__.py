"""A finding and its program -> a self-contained file that shows exactly this difference."""

from harness.repro.source import MODULES, NoReproError, repro_source

__all__ = ["MODULES", "NoReproError", "repro_source"]

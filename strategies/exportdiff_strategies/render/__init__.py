"""Program -> Python source: readable, deterministic, and the model itself."""

from exportdiff_strategies.render.source import render

__all__ = ["render"]

"""Program -> Python source: readable, deterministic, and the model itself."""

from strategies.render.source import render

__all__ = ["render"]

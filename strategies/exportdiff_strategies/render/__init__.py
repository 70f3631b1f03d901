"""Program -> Python source: readable, deterministic, and the model itself.

``render(program)`` returns a module that defines the classes, ``make()`` and, for dynamic shapes,
``dynamic_shapes()`` and ``probes()``.
"""

from exportdiff_strategies.render.source import render

__all__ = ["render"]

"""What reduction can do: one file a theme, one function a pass. Passes run in the order of these lines."""

from harness.minimizing.passes import statements, classes, calls, nesting, displays  # isort: skip
from harness.minimizing.passes import inlining, expressions, models, numbers, names  # isort: skip
from harness.minimizing.passes.registry import PASSES, Pass

__all__ = [
    "PASSES",
    "Pass",
    "calls",
    "classes",
    "displays",
    "expressions",
    "inlining",
    "models",
    "names",
    "nesting",
    "numbers",
    "statements",
]

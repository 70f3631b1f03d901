"""The passes of the minimizer: one function each. They run in the order of the imports below."""

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

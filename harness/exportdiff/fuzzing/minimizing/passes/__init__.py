"""The passes of the minimizer: one function each. They run in the order of the imports below."""

from exportdiff.fuzzing.minimizing.passes import statements, classes, calls, nesting  # isort: skip
from exportdiff.fuzzing.minimizing.passes import displays, inlining, expressions, models  # isort: skip
from exportdiff.fuzzing.minimizing.passes import numbers, names  # isort: skip
from exportdiff.fuzzing.minimizing.passes.registry import PASSES, Pass

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

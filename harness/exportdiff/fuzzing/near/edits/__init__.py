"""All edits, in a table. A new one is one decorated function in the file of its kind."""

from exportdiff.fuzzing.near.edits import layers, operators, results, state, statements, values
from exportdiff.fuzzing.near.edits.table import EDITS, Edit

__all__ = ["EDITS", "Edit", "layers", "operators", "results", "state", "statements", "values"]

"""All situations, in a table. A new one is one decorated function in the file of its kind."""

from exportdiff.fuzzing.around.situations import inputs, models, parents
from exportdiff.fuzzing.around.situations.table import SITUATIONS, Pick

__all__ = ["SITUATIONS", "Pick", "inputs", "models", "parents"]

"""What to test: Hypothesis strategies that draw Programs, and their rendering to Python source."""

from exportdiff_strategies.drawing.programs import programs
from exportdiff_strategies.program import Program
from exportdiff_strategies.render import render
from exportdiff_strategies.seeds import draw_program
from exportdiff_strategies.tags import tags_of

__all__ = ["Program", "draw_program", "programs", "render", "tags_of"]

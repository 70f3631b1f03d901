"""What to test: Hypothesis strategies that draw Programs, and their rendering to Python source."""

from strategies.drawing.programs import programs
from strategies.program import Program
from strategies.render import render
from strategies.seeds import draw_program
from strategies.tags import tags_of

__all__ = ["Program", "draw_program", "programs", "render", "tags_of"]

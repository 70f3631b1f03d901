"""Makes a program smaller: passes propose edits, a judge decides whether it still shows the finding."""

from exportdiff.fuzzing.minimizing.minimizer import Minimized, NotShownError, Progress, minimize
from exportdiff.fuzzing.minimizing.shipping import Shipped, ship

__all__ = ["Minimized", "NotShownError", "Progress", "Shipped", "minimize", "ship"]

"""Makes a program smaller: many passes propose edits, a judge decides whether it still shows the finding."""

from harness.minimizing.minimizer import Minimized, NotShownError, Progress, minimize
from harness.minimizing.shipping import Shipped, ship

__all__ = ["Minimized", "NotShownError", "Progress", "Shipped", "minimize", "ship"]

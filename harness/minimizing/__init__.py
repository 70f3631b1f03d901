"""Making a program that shows a finding small: many passes over one question, "does it still show it?"."""

from harness.minimizing.minimizer import Minimized, NotShownError, Progress, minimize
from harness.minimizing.shipping import Shipped, ship

__all__ = ["Minimized", "NotShownError", "Progress", "Shipped", "minimize", "ship"]

"""Making a program that shows a finding small: many passes over one question, "does it still show it?"."""

from harness.minimizing.minimize import Minimized, NotShownError, Progress, minimize

__all__ = ["Minimized", "NotShownError", "Progress", "minimize"]

"""Measures exportdiff itself: benchmarks, real models, and planted bugs that prove that checks can fail.

Nothing below it needs it, so none of it runs in a user's campaign or check.
"""

"""Measures exportdiff itself: benchmarks, real models, and planted faults that prove that checks can fail.

No campaign and no check of a user's model needs it; only commands import it.
"""

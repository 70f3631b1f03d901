"""The folder that ``exportdiff judge`` puts on ``PYTHONPATH``."""

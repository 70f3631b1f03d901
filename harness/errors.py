"""Mistakes of the person at the keyboard: one clear line, exit code 2, never a traceback."""

from __future__ import annotations


class UsageError(Exception):
    """Something in the command line or the environment; the text names the thing and the fix."""

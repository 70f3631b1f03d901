"""Errors of the user: a command prints one clear line and exits with 2, without a traceback."""

from __future__ import annotations


class UsageError(Exception):
    """The command line or the environment is wrong; the message says what is wrong and how to correct it."""

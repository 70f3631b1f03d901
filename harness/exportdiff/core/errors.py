"""Errors of the user. A command prints one line without a traceback, and exits with 2."""

from __future__ import annotations


class UsageError(Exception):
    """The command line or the environment is wrong. The message says what is wrong and how to correct it."""

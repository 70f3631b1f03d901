"""Writes a file that the user has named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    import pathlib


def write_text(file: pathlib.Path, text: str) -> None:
    """Write a text. Raises UsageError if the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None

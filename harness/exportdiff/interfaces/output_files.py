"""Writes files that the user has named, for commands and reports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    import pathlib


def check_writable(argument: str, file: pathlib.Path | None, folder: pathlib.Path) -> None:
    """Raise UsageError at the start of a command if a file that it writes at its end cannot be written.

    The file may be in ``folder``, the folder of the campaign, which need not exist yet.
    """
    if file is None or file.parent == folder:
        return
    if file.is_dir():
        raise UsageError(f"{argument} {file} is a folder; name a file")
    if not file.parent.is_dir():
        raise UsageError(f"{argument} {file}: there is no folder {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise UsageError(f"{argument} {file} cannot be written; name another file")


def write_text(file: pathlib.Path, text: str) -> None:
    """Write a text. Raises UsageError if the file cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}") from None


def replace_text(file: pathlib.Path, text: str) -> None:
    """Write a text in one step, so that no reader sees a part of it. Raises OSError."""
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(file)

"""Notices when standard output cannot be written: its disk is full, or nobody reads it any more."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator


class OutputError(Exception):
    """Standard output cannot be written; the text says why."""


class _Checked:
    """A text stream that raises OutputError where another one raises OSError, which rich may catch."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with _checked():
            return self._stream.write(text)

    def flush(self) -> None:
        with _checked():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _checked() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from None


@contextlib.contextmanager
def checked_output() -> Iterator[None]:
    """Raise OutputError in the block, or at its end, if standard output cannot be written."""
    stream = sys.stdout
    if stream is None:  # it was closed: nothing can be written, and nothing is
        yield
        return
    checked = _Checked(stream)
    try:
        with contextlib.redirect_stdout(cast("TextIO", checked)):
            try:
                yield
            finally:
                checked.flush()
    except OutputError:
        standard = sys.__stdout__
        if standard is not None and stream is standard:  # else Python would try again at its end
            with pathlib.Path(os.devnull).open("wb") as nothing:
                os.dup2(nothing.fileno(), standard.fileno())
        raise

"""Files in the user's cache folder."""

from __future__ import annotations

import pathlib
import tempfile
from contextlib import suppress

import platformdirs


def cache_folder() -> pathlib.Path:
    """Return this user's folder for cached results."""
    return pathlib.Path(platformdirs.user_cache_dir("exportdiff"))


def write_cache_file(file: pathlib.Path, content: bytes) -> None:
    """Write a file of a cache. If that is not possible, only time is lost, so OSError is ignored.

    The file is replaced at once, so that another process never reads an incomplete one.
    """
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as written:
            written.write(content)
        pathlib.Path(written.name).replace(file)

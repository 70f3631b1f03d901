"""The scratch folder that a child process works in, and the removal of abandoned ones."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
import time
from functools import cache

PREFIX = "exportdiff-scratch-"
"""How the names begin; the id of the process that made the folder follows."""
DAY = 24 * 3600.0
"""Seconds. A younger folder may be that of a process in another container."""


def make() -> tempfile.TemporaryDirectory[str]:
    """Make a folder; ``cleanup`` removes it. The first call also removes folders of killed commands."""
    _remove_abandoned(pathlib.Path(tempfile.gettempdir()))
    return tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)


def enter(seen: pathlib.Path, scratch: pathlib.Path) -> None:
    """Work in the folder ``scratch``, with links to the files of the folder ``seen``."""
    for file in seen.iterdir():
        (scratch / file.name).symlink_to(file)
    os.chdir(scratch)


@cache
def _remove_abandoned(parent: pathlib.Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: pathlib.Path) -> bool:
    number = re.match(rf"{PREFIX}(\d+)-", folder.name)
    try:
        if number is None or time.time() - folder.lstat().st_mtime < DAY:
            return False
        os.kill(int(number[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # of another user, or already removed
        return False
    return False

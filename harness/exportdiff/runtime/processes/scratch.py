"""The folder for the temporary files of one run, and the removal of the folders that dead runs have left.

A run is one process of exportdiff. As long as it lives, it holds a lock on a file next to its folder; Linux
and macOS release the lock when the process ends, however it ends. A run that starts removes each folder whose
lock is free.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pathlib
import re
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache

PREFIX = "exportdiff-scratch-"
"""How the names begin; the id of the process that made the folder follows."""
LOCK = ".lock"
"""The suffix of the file with the lock."""
DAY = 24 * 3600.0
"""Seconds. A younger folder without a lock may be that of a process in another container."""


def make() -> tempfile.TemporaryDirectory[str]:
    """Make a folder; ``cleanup`` removes it. The first call also removes the folders of dead runs."""
    return tempfile.TemporaryDirectory(dir=folder(), ignore_cleanup_errors=True)


def folder() -> pathlib.Path:
    """Return the folder for the temporary files of this process."""
    return _of_run(pathlib.Path(tempfile.gettempdir()), os.getpid())


def enter(seen: pathlib.Path, scratch: pathlib.Path) -> None:
    """Work in the folder ``scratch``, with links to the files of the folder ``seen``."""
    for file in seen.iterdir():
        (scratch / file.name).symlink_to(file)
    os.chdir(scratch)


@cache
def _of_run(parent: pathlib.Path, pid: int) -> pathlib.Path:
    remove_abandoned(parent)
    while True:
        made = parent / f"{PREFIX}{pid}-{secrets.token_hex(4)}"
        lock = made.with_name(made.name + LOCK)
        opened = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(opened, fcntl.LOCK_EX)
        if _is_open_file(opened, lock):
            break
        os.close(opened)  # between the two lines, another run took the file for that of a dead run
    made.mkdir(mode=0o700)
    atexit.register(_remove_own, made, pid)
    return made


def _is_open_file(opened: int, file: pathlib.Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened), file.stat())
    except FileNotFoundError:
        return False


def _remove_own(made: pathlib.Path, pid: int) -> None:
    if os.getpid() == pid:  # not in a process that the run has forked
        _remove(made)


def _remove(made: pathlib.Path) -> None:
    shutil.rmtree(made, ignore_errors=True)
    with suppress(OSError):
        made.with_name(made.name + LOCK).unlink()


def remove_abandoned(parent: pathlib.Path) -> None:
    """Remove the folders of dead runs."""
    for lock in parent.glob(f"{PREFIX}*{LOCK}"):
        if (opened := _taken(lock)) is not None:
            _remove(lock.with_name(lock.name.removesuffix(LOCK)))
            os.close(opened)
    for made in parent.glob(f"{PREFIX}*"):
        if not made.name.endswith(LOCK) and _is_old_and_without_lock(made):
            shutil.rmtree(made, ignore_errors=True)


def _taken(lock: pathlib.Path) -> int | None:
    """Take a lock, and return the open file; None if a living run holds it, or if it cannot be opened."""
    try:
        opened = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # of another user, or already removed
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _is_old_and_without_lock(made: pathlib.Path) -> bool:
    number = re.match(rf"{PREFIX}(\d+)-", made.name)
    try:
        if number is None or made.with_name(made.name + LOCK).exists():
            return False
        if time.time() - made.lstat().st_mtime < DAY:
            return False
        os.kill(int(number[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # of another user, or already removed
        return False
    return False

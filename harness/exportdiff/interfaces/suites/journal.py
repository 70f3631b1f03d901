"""The folder to which all processes of a test suite write what became of their calls."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pickle
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.interfaces.suites.judged_call import JudgedCall

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSE = 0.05
"""Seconds between two looks at the lock."""


@dataclass(frozen=True)
class Journal:
    """Results of calls in files; the processes need no connection."""

    folder: pathlib.Path

    def hold(self) -> int:
        """Show, until the returned file is closed in all forks of this process, that results may follow."""
        opened = os.open(self._lock, os.O_CREAT | os.O_RDWR, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(opened, fcntl.LOCK_SH)
        return opened

    def wait(self, seconds: float) -> None:
        """Wait until no process holds the journal; at most this long."""
        deadline = time.monotonic() + seconds
        opened = os.open(self._lock, os.O_CREAT | os.O_RDWR, 0o600)
        while time.monotonic() < deadline:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(PAUSE)
        os.close(opened)

    @property
    def _lock(self) -> pathlib.Path:
        return self.folder / "lock"

    def claim(self, key: str) -> bool:
        """Whether this process is the first to claim a key."""
        try:
            os.close(os.open(self.folder / f"{key}.claim", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True

    def write(self, call: JudgedCall) -> None:
        """Add the result of a call."""
        file = self.folder / f"{os.getpid()}-{secrets.token_hex(4)}.call"
        part = file.with_suffix(".part")
        part.write_bytes(pickle.dumps(call))
        part.replace(file)

    def read(self) -> Iterator[JudgedCall]:
        """Yield the results of all calls."""
        for file in sorted(self.folder.glob("*.call")):
            call = pickle.loads(file.read_bytes())
            if isinstance(call, JudgedCall):
                yield call

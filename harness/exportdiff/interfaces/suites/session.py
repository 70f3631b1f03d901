"""One test session whose exports are judged: its settings, the folder for its results, and their count."""

from __future__ import annotations

import json
import pathlib
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.interfaces.suites.journal import Journal
from exportdiff.interfaces.suites.tally import SuiteTally, tally
from exportdiff.runtime.processes import scratch

if TYPE_CHECKING:
    from exportdiff.interfaces.suites.recorder import Recorder

SECONDS = 60.0
"""The limit for judging one call, if no other is given."""


@dataclass(frozen=True)
class JudgeSettings:
    """What all processes of a session must know. Plain data."""

    folder: str
    seconds: float
    paths: tuple[str, ...] = ()

    @classmethod
    def in_new_folder(cls, seconds: float, paths: tuple[str, ...]) -> JudgeSettings:
        """Make a folder for the results; it is removed when this process ends."""
        return cls(tempfile.mkdtemp(dir=scratch.folder()), seconds, paths)

    @classmethod
    def from_text(cls, text: str) -> JudgeSettings:
        """Read what ``as_text`` returned."""
        read = json.loads(text)
        return cls(read["folder"], read["seconds"], tuple(read["paths"]))

    def as_text(self) -> str:
        """Return the settings for a process that is started later."""
        return json.dumps({"folder": self.folder, "seconds": self.seconds, "paths": self.paths})

    def recorder(self) -> Recorder:
        """Return what records the calls of this process; it imports torch."""
        from exportdiff.interfaces.suites.recorder import Recorder

        return Recorder(self._journal, self.seconds, self.paths)

    def tally(self) -> SuiteTally:
        """Count what all processes have written, as soon as all calls are judged."""
        self._journal.wait(self.seconds)
        return tally(self._journal.read())

    @property
    def _journal(self) -> Journal:
        return Journal(pathlib.Path(self.folder))

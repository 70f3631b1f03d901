"""findings/<fingerprint>.py: the repro file of each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.engine.events import Event, FindingFound, FindingMinimized, FindingShrunk

if TYPE_CHECKING:
    from harness.reporting.folder import Folder


class ReproFiles:
    """Writes the text of each confirmed repro file; a smaller one replaces it."""

    def __init__(self, folder: Folder) -> None:
        """Write to ``folder``."""
        self._folder = folder

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, FindingFound | FindingShrunk):
            self._folder.repro(event.finding.fingerprint).write_text(event.repro, encoding="utf-8")
        elif isinstance(event, FindingMinimized):
            # The console has already printed this name.
            self._folder.repro(event.was).write_text(event.repro, encoding="utf-8")

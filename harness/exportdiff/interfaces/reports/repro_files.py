"""findings/<fingerprint>.py: the repro file of each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.events import (
    CampaignStarted,
    Event,
    FindingFound,
    FindingMinimized,
    FindingShrunk,
    TorchesCompared,
)
from exportdiff.known.corpus.versions import versions, with_versions

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.folder import Folder
    from exportdiff.known.corpus.versions import Shown


class ReproFiles:
    """Writes the text of each confirmed repro file; a smaller one replaces it."""

    def __init__(self, folder: Folder) -> None:
        """Write to ``folder``."""
        self._folder = folder
        self._torch = self._other = ""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignStarted):
            self._torch, self._other = event.torch.partition("+")[0], event.against
        elif isinstance(event, FindingFound | FindingShrunk):
            self._folder.repro(event.finding.fingerprint).write_text(event.repro, encoding="utf-8")
        elif isinstance(event, FindingMinimized):
            # The console has already printed this file name.
            self._folder.repro(event.was).write_text(event.repro, encoding="utf-8")
        elif isinstance(event, TorchesCompared) and event.finding is not None:
            self._compared(event)

    def _compared(self, event: TorchesCompared) -> None:
        """Write into the header of the file which of the two versions of torch show the bug."""
        file = self._folder.repro(event.fingerprint)
        text = event.repro or file.read_text(encoding="utf-8")
        shown: dict[str, Shown] = {self._torch: "shows"}
        if event.change == "in both":
            shown[self._other] = "shows"
        elif event.change == "torch regression":
            shown[self._other] = "fixed"
        file.write_text(with_versions(text, versions(shown)), encoding="utf-8")

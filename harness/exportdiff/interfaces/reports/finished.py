"""The files that a campaign, or a finished folder, is asked for by name: Markdown and JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.events import CampaignFinished, Event
from exportdiff.interfaces.reports.cards import cards
from exportdiff.interfaces.reports.junit import campaign_suite, write_suites
from exportdiff.interfaces.reports.markdown import markdown
from exportdiff.interfaces.reports.writing import write_text

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.folder import Folder


def write_finished(
    night: CampaignReport, folders: Sequence[Folder], summary: pathlib.Path | None, junit: pathlib.Path | None
) -> None:
    """Write the files that have a name. Raises UsageError if one cannot be written."""
    found = cards(night, folders) if summary is not None or junit is not None else []
    if summary is not None:
        write_text(summary, markdown(night, found))
    if junit is not None:
        write_suites(junit, [campaign_suite(night, found)])


class FinishedFiles:
    """Writes these files when a campaign ends. ``night`` takes the events itself."""

    def __init__(
        self, night: CampaignReport, folder: Folder, summary: pathlib.Path | None, junit: pathlib.Path | None
    ) -> None:
        """Write the files that have a name."""
        self._night, self._folder = night, folder
        self._files = (summary, junit)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignFinished):
            write_finished(self._night, [self._folder], *self._files)

"""The files of a campaign for CI systems: Markdown and JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.events import CampaignFinished, Event
from exportdiff.interfaces.output_files import write_text
from exportdiff.interfaces.reports.displayed_findings import displayed_findings
from exportdiff.interfaces.reports.junit import campaign_suite, write_suites
from exportdiff.interfaces.reports.markdown import markdown

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.folder import Folder


def write_ci_files(
    campaign: CampaignReport,
    folders: Sequence[Folder],
    summary: pathlib.Path | None,
    junit: pathlib.Path | None,
) -> None:
    """Write the files that are not None. Raises UsageError if one cannot be written."""
    found = displayed_findings(campaign, folders) if summary is not None or junit is not None else []
    if summary is not None:
        write_text(summary, markdown(campaign, found))
    if junit is not None:
        write_suites(junit, [campaign_suite(campaign, found)])


class CiFiles:
    """Writes these files when a campaign ends. ``campaign`` must receive each event first."""

    def __init__(
        self,
        campaign: CampaignReport,
        folder: Folder,
        summary: pathlib.Path | None,
        junit: pathlib.Path | None,
    ) -> None:
        """Take the files to write at the end; None: do not write it."""
        self._campaign, self._folder = campaign, folder
        self._files = (summary, junit)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, CampaignFinished):
            write_ci_files(self._campaign, [self._folder], *self._files)

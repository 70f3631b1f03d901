"""Runs a campaign, and passes its events to the console and to the files of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.cli.interrupting import interruptible
from exportdiff.fuzzing.campaign.campaign import Campaign
from exportdiff.fuzzing.campaign.engines import local_workers
from exportdiff.interfaces.reports.campaign_report import CampaignReport
from exportdiff.interfaces.reports.ci_files import CiFiles
from exportdiff.interfaces.reports.console import ConsoleReport
from exportdiff.interfaces.reports.learned_file import LearnedFile
from exportdiff.interfaces.reports.ndjson import NdjsonLog
from exportdiff.interfaces.reports.repro_files import ReproFiles
from exportdiff.interfaces.reports.summary import SummaryFile
from exportdiff.interfaces.reports.tally import Tally
from exportdiff.interfaces.reports.text import make_console
from exportdiff.known.corpus.entry import CORPORA
from exportdiff.runtime.processes.limits import limited

if TYPE_CHECKING:
    import pathlib

    from exportdiff.fuzzing.campaign.engines import StartWorkers
    from exportdiff.fuzzing.campaign.journal import Journal
    from exportdiff.fuzzing.campaign.settings import CampaignSettings
    from exportdiff.interfaces.reports.folder import Folder


def run_campaign(
    settings: CampaignSettings,
    journal: Journal,
    folder: Folder,
    summary: pathlib.Path | None = None,
    junit: pathlib.Path | None = None,
    start: StartWorkers = local_workers,
) -> int:
    """Run a campaign from where its journal ends; return the exit code of the command.

    ``summary`` and ``junit``: files to write at the end. ``start`` starts the processes that run programs.
    """
    campaign = CampaignReport(Tally(folder.root, settings.corpora or CORPORA))
    tally = campaign.tally
    ci_files = CiFiles(campaign, folder, summary, junit)
    with (
        NdjsonLog(folder.log) as log,
        ConsoleReport(make_console(), folder, campaign) as console,
        interruptible() as stop,
        limited(memory=settings.memory),
    ):
        files = (campaign, log, ReproFiles(folder), SummaryFile(folder, tally), LearnedFile(folder))
        listeners = (*files, console, ci_files)
        for event in Campaign(settings, stop=stop, journal=journal, start=start).run():
            for listener in listeners:
                listener(event)
    if tally.harness_errors:
        return 3
    if tally.findings or tally.changed("torch regression"):
        return 1
    return 0 if tally.judged else 2

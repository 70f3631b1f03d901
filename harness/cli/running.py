"""Runs a campaign with everybody who listens to it: the screen and the files of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.cli.interrupting import interruptible
from harness.engine.campaign import Campaign
from harness.engine.engines import local_workers
from harness.known.entry import CORPORA
from harness.processes.limits import limited
from harness.reporting.console import ConsoleReport
from harness.reporting.finished import FinishedFiles
from harness.reporting.ndjson import NdjsonLog
from harness.reporting.night import Night
from harness.reporting.repro_files import ReproFiles
from harness.reporting.summary import SummaryFile
from harness.reporting.tally import Tally
from harness.reporting.text import make_console

if TYPE_CHECKING:
    import pathlib

    from harness.engine.engines import Start
    from harness.engine.journal import Journal
    from harness.engine.settings import Settings
    from harness.reporting.folder import Folder


def run_campaign(
    settings: Settings,
    journal: Journal,
    folder: Folder,
    summary: pathlib.Path | None = None,
    junit: pathlib.Path | None = None,
    start: Start = local_workers,
) -> int:
    """Run a campaign, from what its journal holds on; return the exit code of the command.

    ``summary`` and ``junit``: files to write at the end. ``start`` says where programs run.
    """
    night = Night(Tally(folder.root, settings.corpora or CORPORA))
    tally = night.tally
    named = FinishedFiles(night, folder, summary, junit)
    with (
        NdjsonLog(folder.log) as log,
        ConsoleReport(make_console(), folder, tally) as console,
        interruptible() as stop,
        limited(memory=settings.memory),
    ):
        listeners = (night, log, ReproFiles(folder), SummaryFile(folder, tally), console, named)
        for event in Campaign(settings, stop=stop, journal=journal, start=start).run():
            for listener in listeners:
                listener(event)
    if tally.harness_errors:
        return 3
    return 1 if tally.shown or tally.changed("torch regression") else 0

"""``exportdiff report``: one HTML page about a campaign."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_ci_file_options
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.known.corpus.entry import CORPORA

# Functions import the modules that import torch or draw, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "report",
        help="write one HTML page about a campaign",
        description="Write one HTML page about a campaign: the new findings with texts to report them, what "
        "changed, and plots of what was found, what was tested, and what is left to find. The page needs no "
        "network. The command reads events.ndjson, so the campaign may still be running or may have been "
        "killed.",
    )
    parser.add_argument(
        "folders",
        type=pathlib.Path,
        nargs="+",
        metavar="DIR",
        help="the folder of a campaign, or the folders of its shards",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("report.html"),
        metavar="FILE",
        help="the file to write (default: report.html)",
    )
    parser.add_argument(
        "--since",
        type=pathlib.Path,
        action="append",
        default=[],
        metavar="DIR",
        help="show what changed since the campaign in this folder, e.g. that of the night before; repeat the "
        "option for each of its shards",
    )
    add_ci_file_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the page; return 0."""
    from exportdiff.interfaces.output_files import write_text
    from exportdiff.interfaces.reports.campaign_report import CampaignReport
    from exportdiff.interfaces.reports.ci_files import write_ci_files
    from exportdiff.interfaces.reports.page.page import page

    folders = [Folder(each) for each in arguments.folders]
    campaign = CampaignReport.of(folders, CORPORA)
    before = (
        CampaignReport.of([Folder(each) for each in arguments.since], CORPORA) if arguments.since else None
    )
    write_ci_files(campaign, folders, arguments.summary, arguments.junit)
    write_text(arguments.out, page(campaign, folders, before))
    print(f"{campaign.verdict()}\n{arguments.out}")
    return 0

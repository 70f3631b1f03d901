"""``exportdiff merge``: join the results of several shards of a campaign."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.reports.folder import Folder

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "merge",
        help="join the folders of several shards of a campaign into one",
        description="Join the folders that the shards of one campaign ('fuzz --shard I/N') have written into "
        "one folder, as if one campaign had run all their programs. No program is judged again; a finding "
        "may be confirmed again if another shard has an earlier program for it.",
    )
    parser.add_argument(
        "folders", type=pathlib.Path, nargs="+", metavar="DIR", help="the folder of one shard"
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("exportdiff-out"),
        metavar="DIR",
        help="the folder to write (default: exportdiff-out)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Merge; return 0 (nothing new), 1 (new findings), 2 (no program was judged) or 3 (an error)."""
    from exportdiff.cli.campaign_run import run_campaign
    from exportdiff.fuzzing.campaign.journal import Journal
    from exportdiff.fuzzing.campaign.merging import merged

    folder = Folder(arguments.out)
    if any(folder.root.resolve() == each.resolve() for each in arguments.folders):
        raise UsageError(f"--out {folder.root} is one of the folders to merge; name another folder")
    begun, lines = merged([Folder(each).journal for each in arguments.folders])
    folder.prepare()
    with Journal.write(folder.journal, begun, lines) as journal:
        return run_campaign(begun.settings, journal, folder)

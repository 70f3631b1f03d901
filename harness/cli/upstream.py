"""``exportdiff upstream``: write the fixes of the corpus as a series of commits for PyTorch."""

from __future__ import annotations

import os
import pathlib
import time
from email.utils import formatdate
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.known.entry import CORPORA, FIXES
from harness.known.ranking import read_root_causes
from harness.patching.fixes import misfit, read_fixes

if TYPE_CHECKING:
    import argparse

    from harness.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "upstream",
        help="write the fixes of the corpus as commits for PyTorch, each with a test",
        description="Write one commit for each root cause that has a fix, the most severe first, in the "
        "format of git format-patch: 'git am DIR/*.patch' applies them to a checkout of PyTorch at the "
        "installed release. Each has a test in the style of PyTorch's own, made from the entry. To make it, "
        "the entry's program runs without the fixes and with them.",
    )
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR", help="where to write; created if missing")
    parser.add_argument("--first", type=int, metavar="N", help="the N most severe alone")
    parser.add_argument(
        "--author",
        default="exportdiff <exportdiff@localhost>",
        metavar="NAME",
        help="the author of the commits: 'NAME <MAIL>' (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the series; print a line for each commit; return 0, or 2 if there is none."""
    from harness.known.series import Commit, commit_of, mail

    if not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here")
    fixes = {name: fix for name, fix in read_fixes(CORPORA / FIXES).items() if not misfit(fix)}
    wanted = [cause for cause in read_root_causes(CORPORA) if any(name in fixes for name in cause.fixes)]
    commits: list[Commit] = []
    held: list[str] = []
    for cause in wanted[: arguments.first]:
        made = commit_of(cause, fixes, [fixes[name] for name in held])
        if isinstance(made, Commit):
            commits.append(made)
            held += [name for name in cause.fixes if name in fixes]
            print(f"{len(commits):04d}  {made.name}  {made.title}", flush=True)
        else:
            print(f"left out  {made.name}: {made.reason}", flush=True)
    if not commits:
        raise UsageError("no fix of the corpus works on this torch")
    date = formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for number, commit in enumerate(commits, 1):
        file = arguments.folder / f"{number:04d}-{commit.name}.patch"
        file.write_bytes(mail(commit, number, len(commits), arguments.author, date))
    print(f"{len(commits)} commits: git am {arguments.folder}/*.patch")
    return 0

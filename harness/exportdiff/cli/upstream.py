"""``exportdiff upstream``: write the fixes of the corpus as a series of commits for PyTorch."""

from __future__ import annotations

import os
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import workers
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import CORPORA, FIXES
from exportdiff.known.corpus.ranking import read_root_causes
from exportdiff.runtime.patching.fixes import read_fixes, why_not_applicable
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.runtime.patching.fix import Fix


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "upstream",
        help="write the fixes of the corpus as commits for PyTorch, each with a test",
        description="Write one commit for each root cause that has a fix, the most severe first, in the "
        "format of git format-patch: 'git am DIR/*.patch' applies them to a checkout of PyTorch at the "
        "installed release. Each has a test in PyTorch's style, for which the entry's program runs without "
        "the fixes and with them.",
    )
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR", help="where to write; created if missing")
    parser.add_argument("--first", type=int, metavar="N", help="only the N most severe")
    parser.add_argument(
        "--author",
        default="exportdiff <exportdiff@localhost>",
        metavar="NAME",
        help="the author of the commits: 'NAME <MAIL>' (default: %(default)s)",
    )
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help="number of processes; auto: one for each core (default: auto)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the series; print a line for each commit; return 0, or 2 if there is none."""
    from exportdiff.known.upstream.patch_series import Commit, LeftOut, commit_of, mail, try_to_mend

    if not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here")
    if any(arguments.folder.glob("*.patch")):
        raise UsageError(f"{arguments.folder} holds patches already; name another folder, or empty it")
    fixes = {name: fix for name, fix in read_fixes(CORPORA / FIXES).items() if not why_not_applicable(fix)}
    wanted = [cause for cause in read_root_causes(CORPORA) if cause.fixes and cause.open][: arguments.first]
    server()  # before the threads
    commits: list[Commit] = []
    before: list[Fix] = []
    with ThreadPoolExecutor(arguments.workers) as pool:
        for one in pool.map(partial(try_to_mend, fixes=fixes), wanted):
            if isinstance(one, LeftOut):
                print(f"left out  {one.name}: {one.reason}", flush=True)
                continue
            commits.append(commit_of(one, before))
            before += one.fixes
            print(f"{len(commits):04d}  {commits[-1].name}  {commits[-1].title}", flush=True)
    if not commits:
        raise UsageError("no fix of the corpus works on this torch")
    date = formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for number, commit in enumerate(commits, 1):
        file = arguments.folder / f"{number:04d}-{commit.name}.patch"
        file.write_bytes(mail(commit, number, len(commits), arguments.author, date))
    print(f"{len(commits)} commits: git am {arguments.folder}/*.patch")
    return 0

"""``exportdiff upstream``: write the fixes of the corpus as commits for PyTorch."""

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
from exportdiff.known.upstream.verification import RESULTS, verify
from exportdiff.known.upstream.written import FAILURES, REASONS, SECOND, Written
from exportdiff.runtime.patching.fixes import read_fixes, why_not_applicable
from exportdiff.runtime.processes.server import server

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "upstream",
        help="write the fixes of the corpus as commits for PyTorch, each with a test",
        description="Write one commit for each root cause that has a fix, the most severe first, in the "
        "format of git format-patch. Each stands alone; 'git am --keep-non-patch FILE' applies it. Each has "
        "a test in PyTorch's style, for which the entry's program runs without the fix and with it. DIR has "
        f"the commits that can be proposed as they are, {SECOND}/ has the others, and {REASONS} says why. "
        f"{FAILURES} has a test for each open bug, marked as an expected failure. With --verify, the test of "
        "each commit that can be proposed runs on the installed torch, without the commit and with it.",
    )
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR", help="where to write; created if missing")
    parser.add_argument(
        "--checkout",
        type=pathlib.Path,
        metavar="PYTORCH",
        help="a checkout of PyTorch: the commits apply to its files, and the tests are methods of its test "
        "classes (default: the installed torch, and a new file for each test)",
    )
    parser.add_argument("--first", type=int, metavar="N", help="only the N most severe root causes")
    parser.add_argument(
        "--verify",
        action="store_true",
        help="then run the test of each commit in DIR, without the commit and with it; if DIR has commits "
        f"already, only that. Results are kept in DIR/{RESULTS}: an interrupted run goes on from there",
    )
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
    """Write the commits, verify them, or both; print a line for each; return 1 if one has a problem."""
    _check(arguments)
    if not any(arguments.folder.glob("*.patch")):
        _write(arguments)
    return _verify(arguments) if arguments.verify else 0


def _write(arguments: argparse.Namespace) -> None:
    from exportdiff.known.upstream.patch_series import Series, try_to_mend

    fixes = {name: fix for name, fix in read_fixes(CORPORA / FIXES).items() if not why_not_applicable(fix)}
    wanted = [cause.entry for cause in read_root_causes(CORPORA) if cause.open][: arguments.first]
    date = formatdate(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    written = Written(arguments.folder, arguments.author, date, Series(arguments.checkout))
    server()  # before the threads
    with ThreadPoolExecutor(arguments.workers) as pool:
        for one in pool.map(partial(try_to_mend, fixes=fixes), wanted):
            print(written.add(one), flush=True)
    print(written.finish())


def _verify(arguments: argparse.Namespace) -> int:
    mails = sorted(arguments.folder.glob("*.patch"))
    server()
    good, words = 0, "fails without it, passes with it"
    for mail, verified in verify(mails, arguments.checkout, arguments.workers):
        good += not verified.problem
        word = "PROBLEM" if verified.problem else "ok"
        print(f"{word:8}{mail.stem}: {verified.problem or words}", flush=True)
    print(f"{good} of {len(mails)} commits have a test that fails without them and passes with them")
    return int(good < len(mails))


def _check(arguments: argparse.Namespace) -> None:
    folder, checkout = arguments.folder, arguments.checkout
    if not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here")
    if not arguments.verify and any(folder.glob("*.patch")):
        raise UsageError(f"{folder} holds patches already; name another folder, empty it, or add --verify")
    if checkout is not None and not (checkout / "torch").is_dir():
        raise UsageError(f"{checkout} is no checkout of PyTorch: it has no folder torch")

"""``exportdiff issue``: a repro file as a bug report that can be filed."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from harness.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("issue", help="print a repro file as a report in PyTorch's issue form")
    parser.add_argument(
        "file", type=pathlib.Path, metavar="FILE", help="a corpus file, or one that a campaign wrote"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the file, and print the report; return 0. What to do with it goes to stderr."""
    from torch.utils.collect_env import get_pretty_env_info

    from harness.known.entry import CORPORA, FIXES, read_entry
    from harness.known.upstream import FORM, LABEL, report
    from harness.patching.fixes import read_fix
    from harness.processes.script import run_file

    entry = read_entry(arguments.file)
    if entry.problem:
        raise UsageError(f"{arguments.file} {entry.problem}; name a repro file")
    shown = run_file(arguments.file)
    if shown.problem or shown.code != 1:
        raise UsageError(f"{arguments.file} does not show its bug here: {shown.problem or shown.last_line}")
    fix = read_fix(CORPORA / FIXES / f"{entry.fix}.patch") if entry.fix else None
    versions = get_pretty_env_info()  # type: ignore[no-untyped-call]  # torch leaves it bare
    print(report(entry, shown, versions, fix), end="")
    if entry.upstream:
        print(f"known already: {entry.upstream}; add to that thread instead", file=sys.stderr)
    else:
        print(f"file it at {FORM}\nwith the label {LABEL!r}; the first line is the title", file=sys.stderr)
    return 0

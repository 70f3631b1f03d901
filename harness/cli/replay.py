"""``exportdiff replay``: run the corpus, each file in a process of its own."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from harness.cli.arguments import duration
from harness.errors import UsageError
from harness.known.entry import CORPORA, EXPECTED, find_files, read_entry
from harness.processes.script import run_file

if TYPE_CHECKING:
    import argparse

    from harness.cli.types import Subparsers
    from harness.known.entry import Entry
    from harness.processes.script import Run


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="run corpus files, and compare the results with their headers",
        description="Run each corpus file in a process of its own, and print one line for it: as recorded, "
        "FIXED or BROKEN. Exit code: 0 if every file is as recorded, else 1.",
    )
    parser.add_argument(
        "files", nargs="*", type=pathlib.Path, metavar="FILE", help="files or folders (default: corpora/)"
    )
    parser.add_argument(
        "--limit",
        type=duration,
        default=120.0,
        metavar="TIME",
        help="time limit for each file, e.g. 90s (default: 2m)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each file; return 0 if all are as recorded, else 1."""
    if not arguments.files and not CORPORA.is_dir():
        raise UsageError("there is no corpora/ here; name the files to replay")
    as_recorded = True
    files = list(find_files(arguments.files or [CORPORA]))
    if not files:
        raise UsageError("there are no corpus files there; name a folder that holds .py files")
    for file in files:
        word, detail = _replay(read_entry(file), arguments.limit)
        as_recorded &= word == "as recorded"
        print(f"{word:<11}  {file}  {detail}".rstrip(), flush=True)
    return 0 if as_recorded else 1


def _replay(entry: Entry, limit: float) -> tuple[str, str]:
    if entry.problem:
        return "BROKEN", entry.problem
    return outcome(entry, run_file(entry.file, limit))


def outcome(entry: Entry, run: Run) -> tuple[str, str]:
    """Return the word for a file, and the details to print after it."""
    if run.problem:
        return "BROKEN", run.problem
    if run.code == EXPECTED[entry.status]:
        return "as recorded", f"({entry.status}) {run.last_line}"
    if run.code == 0:
        return "FIXED", f"(was {entry.status}) {run.last_line}; move it: exportdiff corpus close {entry.file}"
    return "BROKEN", f"(was {entry.status}) {run.last_line}"

"""``exportdiff replay``: run the corpus, each file in a separate process."""

from __future__ import annotations

import pathlib
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_corpora_option, duration
from exportdiff.core.errors import UsageError
from exportdiff.core.torch_versions import torch_version
from exportdiff.known.corpus.entry import EXPECTED, find_files, lacking_for, read_entry
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.known.corpus.versions import shown_by
from exportdiff.runtime.patching.fixes import applied
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fixes import Fix
    from exportdiff.runtime.processes.script import Run, Within


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "replay",
        help="run corpus files, and compare the results with their headers",
        description="Run each corpus file in a separate process, and print one line for it: as recorded, "
        "FIXED or BROKEN. A file of a masked finding, or of a regression, runs with the fixes that its "
        "header names.",
    )
    parser.add_argument(
        "files", nargs="*", type=pathlib.Path, metavar="FILE", help="files or folders (default: the corpus)"
    )
    add_corpora_option(parser, "the corpus with the fixes that files name")
    parser.add_argument(
        "--limit",
        type=duration,
        default=120.0,
        metavar="TIME",
        help="time limit for each file, e.g. 90s (default: 2m)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each file; return 0 if all are as recorded, 2 if none can be run, else 1."""
    if not arguments.files and not arguments.corpora.is_dir():
        raise UsageError(f"there is no {arguments.corpora}/ here; name the files to replay")
    entries = list(map(read_entry, find_files(arguments.files or [arguments.corpora])))
    if not entries:
        raise UsageError("there are no corpus files there; name a folder that holds .py files")
    # Read all fixes first, because a missing fix is a usage error and not the result of a file.
    fixes = [_fixes(entry, arguments.corpora) for entry in entries]
    as_recorded = True
    for entry, needed in zip(entries, fixes, strict=True):
        word, detail = _replay(entry, needed, arguments.limit)
        as_recorded &= word in ("as recorded", "skipped")
        print(f"{word:<11}  {entry.file}  {detail}".rstrip(), flush=True)
    if as_recorded:
        return 0
    return 2 if all(entry.problem for entry in entries) else 1


def _fixes(entry: Entry, corpora: pathlib.Path) -> tuple[Fix, ...]:
    """Read the fixes that a file needs. Raises UsageError."""
    try:
        return fixes_named(entry.needs, corpora)
    except UsageError as error:
        raise UsageError(f"{entry.file} shows its bug only with fixes in place, but {error}") from None


def _replay(entry: Entry, fixes: tuple[Fix, ...], limit: float) -> tuple[str, str]:
    if entry.problem:
        return "BROKEN", entry.problem
    if lacking := lacking_for(entry.file):
        return "skipped", f"{', '.join(lacking)}: not installed here"
    within: Within = partial(applied, fixes) if fixes else nullcontext
    return outcome(entry, run_file(entry.file, limit, within))


def outcome(entry: Entry, run: Run) -> tuple[str, str]:
    """Return the word for the result of a file, and the details to print after it.

    An open entry is compared with what its header says of this torch, if this torch was tried.
    """
    recorded = dict(entry.versions.rows).get(torch_version()) if entry.status == "open" else None
    if recorded is not None and recorded != "shows":
        status = f"{recorded} on this torch"
    else:
        recorded, status = shown_by(EXPECTED[entry.status]), entry.status
    if entry.needs:
        status += f", with {len(entry.needs)} {'fix' if len(entry.needs) == 1 else 'fixes'} in place"
    if shown_by(run.code) == recorded:
        return "as recorded", f"({status}) {run.last_line}"
    if run.problem:
        return "BROKEN", run.problem
    if run.code == 0:
        move = "" if entry.needs else f"; move it: exportdiff corpus close {entry.file}"
        return "FIXED", f"(was {status}) {run.last_line}{move}"
    return "BROKEN", f"(was {status}) {run.last_line}"

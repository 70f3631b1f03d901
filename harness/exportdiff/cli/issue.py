"""``exportdiff issue``: turn a repro file into a bug report for PyTorch."""

from __future__ import annotations

import pathlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import CORPORA, OPEN, read_entry
from exportdiff.known.corpus.known_bug import not_found
from exportdiff.known.corpus.needed_fixes import fixes_named
from exportdiff.known.upstream.bug_report import FORM, LABEL, report
from exportdiff.runtime.processes.script import run_file

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "issue",
        help="turn a repro file into a report in PyTorch's issue form",
        description="Run a repro file, and print a bug report in PyTorch's issue form: the expected and the "
        "actual result, one sentence about the cause, and a program to paste.",
    )
    parser.add_argument(
        "file", type=pathlib.Path, metavar="FILE", help="a corpus file, or a repro file that a campaign wrote"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the file, and print the report; print on stderr where to file it. Return 0."""
    # Imported here, so that ``exportdiff --help`` does not import torch.
    from torch.utils.collect_env import get_pretty_env_info

    entry = read_entry(arguments.file)
    root = arguments.file.resolve().parents[1] / OPEN / f"{entry.variant_of}.py"
    if entry.variant_of:
        of_root = read_entry(root)
        entry = replace(entry, cause=of_root.cause, id=of_root.id)
    if entry.problem:
        raise UsageError(
            f"{arguments.file}: {entry.problem}; name a file of corpora/, or one that 'exportdiff fuzz' wrote"
        )
    shown = run_file(arguments.file)
    if shown.problem or shown.code != 1:
        raise UsageError(f"{arguments.file} does not show its bug here: {shown.problem or shown.last_line}")
    fix = fixes_named((entry.fix,), CORPORA)[0] if entry.fix else None
    versions = get_pretty_env_info()  # type: ignore[no-untyped-call]  # torch has no annotation here
    print(report(entry, shown, versions, fix), end="")
    if entry.id:
        print(f"exportdiff knows this bug as {entry.id} (exportdiff known {entry.id})", file=sys.stderr)
    if entry.variant_of:
        print(f"a variant: {root.name} shows the same root cause by a more natural program", file=sys.stderr)
    if not entry.versions.open:
        print(f"do not file it, it is fixed: {entry.versions.in_words}", file=sys.stderr)
    elif entry.upstream and entry.upstream_match in (None, "mechanism"):
        mended = f" (a fix: {entry.upstream_fix})" if entry.upstream_fix else ""
        print(f"already reported: {entry.upstream}{mended}; add to that thread instead", file=sys.stderr)
    else:
        print(f"file it at {FORM}\nwith the label {LABEL!r}; the first line is the title", file=sys.stderr)
        if entry.upstream:
            print(f"see also {entry.upstream}: the same {entry.upstream_match}", file=sys.stderr)
        elif entry.upstream is not None:
            print(f"thread: {not_found(entry.upstream_searched)}", file=sys.stderr)
    if entry.defended:
        print(f"read this first, a maintainer has defended it: {entry.defended}", file=sys.stderr)
    return 0

"""``exportdiff corpus fit``: try the candidate fixes on a torch."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_corpora_option, workers
from exportdiff.core.errors import UsageError
from exportdiff.core.own_code import import_folders
from exportdiff.known.corpus.fix_trials import Row, statuses, subjects

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers

GOOD = ("usable", "fixed upstream")
"""What a fix needs not to be corrected for."""


def add_parser(actions: Subparsers) -> None:
    """Add the action to those of ``corpus``."""
    parser = actions.add_parser(
        "fit",
        help="try each candidate fix on this torch, or on that of another environment",
        description="Run the entries of each candidate fix without it and with it, and print which fixes are "
        "usable on this torch. Campaigns on it use these alone from then on. Results are kept by torch, "
        "patch and entries: only what changed is tried again.",
    )
    parser.add_argument(
        "--torch",
        type=pathlib.Path,
        metavar="PYTHON",
        help="the Python interpreter of the environment whose torch to try (default: this one)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: a row for each fix")
    parser.add_argument(
        "--all", action="store_true", help="print a line for each fix, also where it is usable"
    )
    parser.add_argument(
        "--workers",
        type=workers,
        default="auto",
        metavar="N",
        help="number of processes; auto: one for each core (default: auto)",
    )
    add_corpora_option(parser, "the corpus with the fixes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table; return 0 if nothing is to be done about any fix, else 1."""
    corpora = arguments.corpora
    if not corpora.is_dir():
        raise UsageError(f"there is no {corpora}/ here; name the corpus with --corpora")
    if arguments.torch is not None:
        return _elsewhere(arguments)
    from exportdiff.interfaces.reports.text import make_error_console
    from exportdiff.known.corpus.fix_trial import try_fixes

    # Of the folder's own files, wherever a campaign runs later.
    found = subjects(corpora.resolve())
    rows: dict[str, Row] = {}
    with make_error_console().status("") as status:
        for row in try_fixes(found, arguments.workers):
            rows[row.name] = row
            status.update(f"{len(rows)} of {len(found)} fixes tried")
    if arguments.json:
        document = {"torch": version("torch"), "fixes": [asdict(row) for row in rows.values()]}
        print(json.dumps(document, indent=1))
    else:
        _print(tuple(rows.values()), arguments.all)
        counts = ", ".join(f"{number} {status}" for status, number in statuses(rows).items())
        print(f"torch {version('torch')}: {counts or 'no fixes'}")
    return 0 if all(row.status in GOOD for row in rows.values()) else 1


def _print(rows: Sequence[Row], every: bool) -> None:
    from exportdiff.interfaces.reports.text import make_console, table

    shown = [row for row in rows if every or row.status != "usable" or row.fixed]
    if not shown:
        return
    lines = table("fix", "patch", "status", "why")
    for row in shown:
        why = row.detail
        if row.fixed and row.status != "fixed upstream":
            why = "; ".join(filter(None, (f"fixed upstream: {', '.join(row.fixed)}", why)))
        patch = "" if row.patch == f"{row.name}.patch" else row.patch
        lines.add_row(row.name, patch, row.status, why)
    make_console().print(lines)


def _elsewhere(arguments: argparse.Namespace) -> int:
    """Run this command with the interpreter of another environment; return its exit code."""
    python = arguments.torch
    # Not resolved: a virtual environment is known by the name of the link.
    command = [str(python.absolute()), "-m", "exportdiff", "corpus", "fit"]
    command += ["--corpora", str(arguments.corpora.resolve()), "--workers", str(arguments.workers)]
    command += ["--json"] * arguments.json + ["--all"] * arguments.all
    path = os.pathsep.join(filter(None, (*import_folders(), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
    except OSError as error:
        raise UsageError(f"--torch {python}: cannot be run: {error.strerror}") from None
    return done.returncode

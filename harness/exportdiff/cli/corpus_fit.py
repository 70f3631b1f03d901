"""``exportdiff corpus fit``: try the candidate fixes on a torch."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import add_corpora_option, workers
from exportdiff.core.errors import UsageError
from exportdiff.core.own_code import import_folders
from exportdiff.known.corpus.trial_results import TrialResult, count_statuses, fix_trials, untried_fixes

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.known.corpus.trial_results import FixTrial

GOOD = ("usable", "fixed upstream")
"""The statuses of fixes that need no correction."""


def add_parser(actions: Subparsers) -> None:
    """Add the action to those of ``corpus``."""
    parser = actions.add_parser(
        "fit",
        help="try each candidate fix on this torch, or on that of another environment",
        description="Run the entries of each candidate fix without it and with it, and print which fixes are "
        "usable on this torch. From then on, campaigns on it use only these. Results are cached: only "
        "fixes whose patch or entries changed are tried again.",
    )
    parser.add_argument(
        "--torch",
        type=pathlib.Path,
        metavar="PYTHON",
        help="the Python interpreter of the environment whose torch to try (default: this one)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: a row for each fix")
    parser.add_argument(
        "--all", action="store_true", help="print a line for each fix, also for the usable ones"
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
    """Print the table; return 0 if no fix needs a correction, else 1."""
    corpora = arguments.corpora
    if not corpora.is_dir():
        raise UsageError(f"there is no {corpora}/ here; name the corpus with --corpora")
    if arguments.torch is not None:
        return _run_with(arguments.torch, arguments)
    results = _run_trials(fix_trials(corpora.resolve()), arguments.workers)
    if arguments.json:
        document = {"torch": version("torch"), "fixes": [asdict(result) for result in results]}
        print(json.dumps(document, indent=1))
    else:
        _print(results, arguments.all)
        print(f"torch {version('torch')}: {count_statuses(results) or 'no fixes'}")
    return 0 if all(result.status in GOOD for result in results) else 1


def try_untried_fixes(corpora: pathlib.Path | None, workers: int) -> None:
    """Try the fixes that need a trial on this torch and had none. Raises FixError.

    A fix that fits may still fail, so it must be tried before programs are judged with it.
    """
    trials = () if corpora is None else untried_fixes(corpora)
    if not trials:
        return
    count = f"{len(trials)} fix{'es' if len(trials) > 1 else ''}"
    print(f"trying {count} of known bugs on torch {version('torch')}, which is done once", flush=True)
    print(f"  {count_statuses(_run_trials(trials, workers))}", flush=True)


def _run_trials(trials: Sequence[FixTrial], workers: int) -> list[TrialResult]:
    """Run trials, and show the progress on stderr."""
    from exportdiff.interfaces.reports.text import make_error_console
    from exportdiff.known.corpus.run_trials import run_trials

    results: list[TrialResult] = []
    with make_error_console().status("") as status:
        for result in run_trials(trials, workers):
            results.append(result)
            status.update(f"{len(results)} of {len(trials)} fixes tried")
            if not sys.stderr.isatty() and len(results) % 50 == 0:
                print(f"  {len(results)} of {len(trials)} fixes tried", file=sys.stderr, flush=True)
    return results


def _print(results: Sequence[TrialResult], every: bool) -> None:
    from exportdiff.interfaces.reports.text import make_console, table

    shown = [result for result in results if every or result.status != "usable" or result.fixed]
    if not shown:
        return
    lines = table("fix", "patch", "status", "why")
    for result in shown:
        why = result.detail
        if result.fixed and result.status != "fixed upstream":
            why = "; ".join(filter(None, (f"fixed upstream: {', '.join(result.fixed)}", why)))
        patch = "" if result.patch == f"{result.name}.patch" else result.patch
        lines.add_row(result.name, patch, result.status, why)
    make_console().print(lines)


def _run_with(python: pathlib.Path, arguments: argparse.Namespace) -> int:
    """Run this command with the interpreter of another environment; return its exit code."""
    # Not resolved: an interpreter finds its virtual environment by the link through which it was started.
    command = [str(python.absolute()), "-m", "exportdiff", "corpus", "fit"]
    command += ["--corpora", str(arguments.corpora.resolve()), "--workers", str(arguments.workers)]
    command += ["--json"] * arguments.json + ["--all"] * arguments.all
    path = os.pathsep.join(filter(None, (*import_folders(), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
    except OSError as error:
        raise UsageError(f"--torch {python}: cannot be run: {error.strerror}") from None
    return done.returncode

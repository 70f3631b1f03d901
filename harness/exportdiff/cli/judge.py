"""``exportdiff judge``: run a command, and judge each model that it exports."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import chosen_paths, duration
from exportdiff.core.errors import UsageError
from exportdiff.core.own_code import import_folders
from exportdiff.interfaces.checking.found import FAIL_ON
from exportdiff.interfaces.output_files import check_writable, write_text
from exportdiff.interfaces.suites import startup
from exportdiff.interfaces.suites.session import SECONDS, JudgeSettings
from exportdiff.interfaces.suites.starting import VARIABLE

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "judge",
        help="run a command, such as a test suite, and judge each model that it exports",
        description="Run a command, for example a test suite, and compare each model that it exports with "
        "eager. Each call of torch.export.export is judged in a copy of the process, so the command itself "
        "runs as usual. With pytest, --export-judge does the same.",
    )
    parser.add_argument(
        "--limit",
        type=duration,
        default=SECONDS,
        metavar="TIME",
        help=f"time limit for judging one call, e.g. 2m (default: {SECONDS:g}s)",
    )
    parser.add_argument(
        "--paths",
        action="append",
        default=[],
        metavar="GLOB",
        help="judge the paths that match GLOB, e.g. 'nonstrict:*'; may be repeated (default: those that fit "
        "the arguments of the call, e.g. strict paths for strict=True)",
    )
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="new",
        help="which findings fail: any; new: findings that no known bug explains, and those for which "
        "there was no time to search; silent: wrong results without an error (default: new)",
    )
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write what was found as JSON")
    # Not REMAINDER: it would take the options of this command as well.
    parser.add_argument("command_line", nargs="+", metavar="-- COMMAND", help="the command, after --")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command, then print what was found."""
    if arguments.paths:
        chosen_paths(arguments.paths, "cpu")
    check_writable("--json", arguments.json, pathlib.Path())
    settings = JudgeSettings.in_new_folder(arguments.limit, tuple(arguments.paths))
    code = _run_command(arguments.command_line, settings)

    from exportdiff.interfaces.reports.suite_lines import suite_lines

    tally = settings.tally()
    print("\nexports against eager (exportdiff)")
    for line in suite_lines(tally):
        print(line)
    if code:
        print(f"the command ended with exit code {code}")
    if arguments.json is not None:
        write_text(arguments.json, json.dumps(tally.as_dict(), indent=1, ensure_ascii=False) + "\n")
    return tally.exit_code(arguments.fail_on)


def _run_command(words: list[str], settings: JudgeSettings) -> int:
    folders = [str(pathlib.Path(startup.__file__).parent), *import_folders()]
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([*folders, *([before] if before else [])])
    sys.stdout.flush()
    try:
        ended = subprocess.run(
            words, env={**os.environ, VARIABLE: settings.as_text(), "PYTHONPATH": path}, check=False
        )
    except OSError as error:
        raise UsageError(f"{words[0]} cannot be started: {error.strerror or error}") from None
    return ended.returncode

"""The command line: ``exportdiff``, one file for each command.

A command reads its options, calls the packages below, and returns an exit code. No command imports torch
before it runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NoReturn

from exportdiff.cli import (
    bench,
    bisect,
    check,
    corpus,
    faults,
    features,
    fuzz,
    issue,
    merge,
    minimize,
    paths,
    replay,
    report,
    show,
    upstream,
    zoo,
)
from exportdiff.cli.interrupting import terminable
from exportdiff.core.errors import UsageError
from exportdiff.runtime.processes.limits import limited

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    fuzz,
    merge,
    report,
    check,
    minimize,
    replay,
    corpus,
    bisect,
    issue,
    upstream,
    show,
    features,
    faults,
    bench,
    paths,
    zoo,
)


_INTERNAL = """exportdiff {command}: this is an error of exportdiff itself, not of your model.
Please report it with the text above, the command, and the output of: python -m torch.utils.collect_env"""


class _Parser(argparse.ArgumentParser):
    """Prints one line about a wrong argument, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code.

    0: nothing found; 1: found; 2: an argument or the environment is wrong, or nothing could be judged; 3:
    exportdiff itself failed.
    """
    parser = make_parser()
    arguments = parser.parse_args(argv)
    try:
        with terminable(), limited(**limits_given(arguments)):
            return int(arguments.run(arguments))
    except UsageError as error:
        print(f"exportdiff {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()
        print(_INTERNAL.format(command=shlex.join(sys.argv[1:] if argv is None else argv)), file=sys.stderr)
        return 3


def limits_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the limits of child processes that the options of a command set."""
    return {name: value for name, value in vars(arguments).items() if name in ("memory", "network")}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="exportdiff",
        description="Differential testing of torch.export: run random models eagerly and exported, and "
        "report every difference.",
        epilog="exportdiff COMMAND --help describes a command",
    )
    parser.add_argument("--version", action="version", version=f"exportdiff {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


def _version() -> str:
    try:
        return version("exportdiff")
    except PackageNotFoundError:
        return "(not installed)"

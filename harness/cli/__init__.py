"""The command line: ``exportdiff``. One file for each command; no command imports torch before it runs."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NoReturn

from harness.cli import (
    bench,
    check,
    corpus,
    faults,
    features,
    fuzz,
    issue,
    minimize,
    paths,
    replay,
    show,
    zoo,
)
from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (fuzz, check, minimize, replay, corpus, issue, show, features, faults, bench, paths, zoo)


class _Parser(argparse.ArgumentParser):
    """Prints one line about a wrong argument, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (0: nothing found, 1: found, 2: could not run)."""
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
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except UsageError as error:
        print(f"exportdiff {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _version() -> str:
    try:
        return version("exportdiff")
    except PackageNotFoundError:
        return "(not installed)"

"""The command line: ``exportdiff``. One file per subcommand; torch is imported only inside them."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NoReturn

from harness.cli import check, corpus, faults, features, fuzz, issue, minimize, paths, replay, show
from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (fuzz, check, minimize, replay, corpus, issue, show, features, faults, paths)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments, without the usage above it."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (0: nothing found, 1: found, 2: could not run)."""
    parser = _Parser(
        prog="exportdiff",
        description="Differential testing of torch.export: random models, eager against exported.",
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

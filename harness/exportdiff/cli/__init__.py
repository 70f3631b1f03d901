"""The command line: ``exportdiff``, one file for each command.

A command reads its options, calls the packages below, and returns an exit code. No command imports torch
before it runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import pathlib
import shlex
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NoReturn

from exportdiff.cli import (
    bench,
    bisect,
    check,
    corpus,
    faults,
    features,
    fuzz,
    issue,
    judge,
    known,
    merge,
    minimize,
    paths,
    replay,
    report,
    show,
    upstream,
    zoo,
)
from exportdiff.cli.arguments import limits_given
from exportdiff.cli.exit_codes import exit_codes
from exportdiff.cli.interrupting import terminable
from exportdiff.cli.output import OutputError, checked_output
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import default_corpora
from exportdiff.known.corpus.left_out import line_on_left_out_fixes
from exportdiff.runtime.processes.limits import limited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMANDS = (
    fuzz,
    merge,
    report,
    check,
    judge,
    minimize,
    replay,
    corpus,
    bisect,
    known,
    issue,
    upstream,
    show,
    features,
    faults,
    bench,
    paths,
    zoo,
)

_WITH_FIXES = ("fuzz", "check", "judge", "minimize", "replay", "corpus", "bench", "faults")
"""The commands that install fixes of known bugs."""

_INTERNAL = """exportdiff {command}: this is an error of exportdiff itself, not of your model.
Please report it with the text above, the command, and the output of: python -m torch.utils.collect_env"""


class _Parser(argparse.ArgumentParser):
    """Prints one line about a wrong argument, and not the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code (``exit_codes.ALL_COMMANDS``)."""
    # When Python ends, it searches all objects for garbage. With torch, that takes a second.
    atexit.register(gc.freeze)
    try:
        pathlib.Path.cwd()
    except OSError as error:
        why = error.strerror or error
        print(f"exportdiff: the current folder cannot be used ({why}); change to another", file=sys.stderr)
        return 2
    try:
        with checked_output():
            return _run(argv)
    except OutputError as error:
        print(f"exportdiff: standard output cannot be written: {error}", file=sys.stderr)
        return 2


def _run(argv: Sequence[str] | None) -> int:
    arguments = make_parser().parse_args(argv)
    try:
        if arguments.command in _WITH_FIXES:
            _say_left_out(getattr(arguments, "corpora", None) or default_corpora())
        with terminable(), limited(**limits_given(arguments)):
            return int(arguments.run(arguments))
    except UsageError as error:
        print(f"exportdiff {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except OutputError:
        raise
    except Exception:
        traceback.print_exc()
        print(_INTERNAL.format(command=shlex.join(sys.argv[1:] if argv is None else argv)), file=sys.stderr)
        return 3


def _say_left_out(corpora: pathlib.Path | None) -> None:
    """Print one line if fixes do not fit this torch, for example because its files were edited."""
    try:
        line = "" if corpora is None else line_on_left_out_fixes(corpora)
    except ModuleNotFoundError:  # there is no torch: the command says so
        return
    if line:
        print(line, file=sys.stderr)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="exportdiff",
        description="Find bugs of torch.export: run models eagerly and exported, and report every "
        "difference.",
        epilog="'exportdiff COMMAND --help' describes a command.",
    )
    parser.add_argument("--version", action="version", version=f"exportdiff {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    for words, each in subcommands(parser):
        each.description = f"{each.description} {exit_codes(words)}"
    return parser


def subcommands(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each command by its words, such as ``corpus add``, with its parser."""
    # argparse offers no public way to list what a parser accepts.
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), parser
    for action in below:
        for word, command in action.choices.items():
            yield from subcommands(command, (*words, word))


def _version() -> str:
    try:
        return version("exportdiff")
    except PackageNotFoundError:
        return "(not installed)"

"""``exportdiff bisect`` and ``exportdiff corpus bisect``: which versions of torch have a bug."""

from __future__ import annotations

import pathlib
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_corpora_option,
    add_time_limit_option,
    add_workers_option,
    print_json,
)
from exportdiff.core.errors import UsageError
from exportdiff.known.corpus.entry import find_files, read_entry

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.fuzzing.other_torch.bisecting import History
    from exportdiff.fuzzing.other_torch.probe import Interpreter
    from exportdiff.known.corpus.entry import Entry

OUTCOMES = {
    "there": "has the bug",
    "not there": "does not have it",
    "another failure": "fails in another way",
}


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "bisect",
        help="run a repro file under several versions of torch",
        description="Run a repro file under this torch and others. Print which versions have its bug, where "
        "it appeared, and where it was fixed.",
    )
    parser.add_argument("file", type=pathlib.Path, metavar="FILE", help="the repro file")
    _add_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def add_parser(actions: Subparsers) -> None:
    """Add the action to those of ``corpus``."""
    parser = actions.add_parser(
        "bisect",
        help="write into the headers which versions of torch have the bugs",
        description="Run the open entries under this torch and others. Write into their headers which "
        "versions have the bug (affected), which do not (unaffected), on which the file fails in another way "
        "(undecided), and the first version with the bug after one without it (regression-since). Results "
        "are cached by torch and file.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=pathlib.Path,
        metavar="FILE",
        help="files or folders (default: the corpus)",
    )
    _add_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.set_defaults(run=run_corpus)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--torch",
        nargs="+",
        type=pathlib.Path,
        default=[],
        metavar="PYTHON",
        help="the Python interpreters of environments with other versions of torch",
    )
    parser.add_argument(
        "--versions",
        default="",
        metavar="V,…",
        help="versions of torch, e.g. 2.9,2.12.1; the first time, an environment for each is created in the "
        "user's cache folder, and pip installs torch there",
    )
    add_workers_option(parser, "number of files that run at a time")
    add_time_limit_option(parser, "each run", 2)
    add_corpora_option(parser, "the corpus with the fixes that files name")


def run(arguments: argparse.Namespace) -> int:
    """Print the table; return 1 if a version has the bug, 0 if none has it, 2 if no version can decide."""
    entry = read_entry(arguments.file)
    if entry.problem:
        raise UsageError(f"{arguments.file} {entry.problem}")
    _check_fixes([entry], arguments.corpora)
    history = _histories([entry], arguments)[entry]
    if arguments.json:
        document = {**asdict(history), "changes": [asdict(change) for change in history.changes]}
        document |= {"affected": history.affected, "unaffected": history.unaffected}
        document |= {"undecided": history.undecided}
        print_json(document)
    else:
        _print(history)
    if history.affected:
        return 1
    return 0 if history.unaffected else 2


def run_corpus(arguments: argparse.Namespace) -> int:
    """Write the headers; return 1 if an entry fails in another way on some version, else 0."""
    from exportdiff.known.corpus.affected import with_versions

    if not arguments.files and not arguments.corpora.is_dir():
        raise UsageError(f"there is no folder {arguments.corpora}/; name the corpus with --corpora")
    found = map(read_entry, find_files(arguments.files or [arguments.corpora]))
    entries = [entry for entry in found if entry.problem or entry.status == "open"]
    for entry in entries:
        if entry.problem:
            raise UsageError(f"{entry.file} {entry.problem}")
    if not entries:
        raise UsageError("the files contain no open entries")
    _check_fixes(entries, arguments.corpora)
    failing = 0
    for entry, history in _histories(entries, arguments, use_cache=True).items():
        others = [row for row in history.rows if row.outcome == "another failure"]
        failing += bool(others)
        for row in others:
            print(f"{entry.file}  fails in another way on torch {row.torch}: {row.line}")
        for change in history.changes:
            print(f"{entry.file}  {change.what} between torch {change.after} and {change.by}")
        if not arguments.dry_run:
            text = entry.file.read_text(encoding="utf-8")
            versions = (history.affected, history.unaffected, history.regression_since, history.undecided)
            entry.file.write_text(with_versions(text, *versions), encoding="utf-8")
    print(f"{len(entries)} entries, of which {failing} fail in another way on some version")
    return 1 if failing else 0


def _histories(
    entries: Sequence[Entry], arguments: argparse.Namespace, *, use_cache: bool = False
) -> dict[Entry, History]:
    from exportdiff.fuzzing.other_torch.bisecting import histories
    from exportdiff.interfaces.reports.text import make_error_console

    interpreters = _interpreters(arguments)
    with make_error_console().status("") as status:

        def on_progress(torch: str, done: int) -> None:
            status.update(f"torch {torch}: {done} of {len(entries)}")

        return histories(
            entries,
            interpreters,
            seconds=arguments.limit,
            workers=min(arguments.workers, len(entries)),
            corpora=arguments.corpora.resolve(),
            use_cache=use_cache,
            on_progress=on_progress,
        )


def _interpreters(arguments: argparse.Namespace) -> list[Interpreter]:
    """Return this interpreter and the others, each version once. Raises UsageError."""
    from exportdiff.fuzzing.other_torch.environments import NotInstalledError, environment_of, wanted
    from exportdiff.fuzzing.other_torch.probe import interpreter, running_interpreter

    if not arguments.torch and not arguments.versions:
        raise UsageError("name other versions of torch with --torch PYTHON or --versions 2.9,2.12")
    found = [
        running_interpreter(),
        *(interpreter(python, "--torch", judges=False) for python in arguments.torch),
    ]
    for version in wanted(arguments.versions) if arguments.versions else ():
        try:
            python = environment_of(version, lambda line: print(line, file=sys.stderr, flush=True))
        except NotInstalledError as error:
            print(f"torch {version}: cannot be installed: {error}", file=sys.stderr, flush=True)
            continue
        found.append(interpreter(python, "--versions", judges=False))
    once = {each.release: each for each in reversed(found)}
    if len(once) == 1:
        raise UsageError(f"torch {found[0].release} of this environment is the only version to try")
    return list(once.values())


def _check_fixes(entries: Sequence[Entry], corpora: pathlib.Path) -> None:
    """Raise UsageError if a file names a fix that is missing."""
    from exportdiff.known.corpus.needed_fixes import fixes_named

    for entry in entries:
        if entry.needs:
            fixes_named(entry.needs, corpora)


def _print(history: History) -> None:
    from exportdiff.interfaces.reports.text import make_console, table

    rows = table("torch", "", "what the file prints")
    for row in history.rows:
        rows.add_row(row.torch, OUTCOMES[row.outcome], row.line)
    make_console().print(rows)
    for change in history.changes:
        print(f"{change.what} between torch {change.after} and {change.by}")
    if history.affected and not history.changes:
        print(f"in every version that ran: {', '.join(history.affected)}")

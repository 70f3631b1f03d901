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
from exportdiff.interfaces.output_files import check_writable
from exportdiff.known.corpus.entry import find_files, read_entry
from exportdiff.known.corpus.versions import IN_WORDS, by_old_keys, versions, with_versions

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from exportdiff.cli.types import Subparsers
    from exportdiff.fuzzing.other_torch.bisecting import History
    from exportdiff.fuzzing.other_torch.probe import Interpreter
    from exportdiff.known.corpus.entry import Entry


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
        description="Run the open entries under this torch and others. Write into the table "
        "[tool.exportdiff.versions] of their headers what each showed: 'shows', 'fixed', 'other' (another "
        "failure) or 'cannot run' (that torch lacks what the file uses). Print what is new in the newest "
        "version. Results are cached by torch and code: after an interruption, the same command continues.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=pathlib.Path,
        metavar="FILE",
        help="files or folders (default: the corpus)",
    )
    _add_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="write no headers")
    parser.add_argument(
        "--summary",
        type=pathlib.Path,
        metavar="FILE",
        help="also write what is new in the newest version as Markdown: fixed, broken, shows again, new",
    )
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
        raise UsageError(f"{arguments.file}: {entry.problem}")
    _check_fixes([entry], arguments.corpora)
    history = _histories([entry], arguments)[entry]
    if arguments.json:
        document = {**asdict(history), "changes": [asdict(change) for change in history.versions.changes]}
        print_json(document | by_old_keys(history.versions))
    else:
        _print(history)
    if history.versions.on("shows"):
        return 1
    return 0 if history.versions.on("fixed") else 2


def run_corpus(arguments: argparse.Namespace) -> int:
    """Write the headers; return 1 if a file cannot tell whether the newest version has its bug, else 0."""
    from exportdiff.interfaces.reports.versions_page import versions_page

    check_writable("--summary", arguments.summary, pathlib.Path())
    if not arguments.files and not arguments.corpora.is_dir():
        raise UsageError(f"there is no folder {arguments.corpora}/; name the corpus with --corpora")
    read = map(read_entry, find_files(arguments.files or [arguments.corpora]))
    entries = [entry for entry in read if entry.problem or entry.status == "open"]
    for entry in entries:
        if entry.problem:
            raise UsageError(f"{entry.file}: {entry.problem}")
    if not entries:
        raise UsageError("the files contain no open entries")
    _check_fixes(entries, arguments.corpora)
    ran = _histories(entries, arguments, use_cache=True)
    found = {
        entry: versions(dict(entry.versions.rows) | dict(history.versions.rows))
        for entry, history in ran.items()
    }
    for entry in () if arguments.dry_run else entries:
        text = entry.file.read_text(encoding="utf-8")
        entry.file.write_text(with_versions(text, found[entry]), encoding="utf-8")
    page = versions_page(found, ran)
    print(page, end="")
    if arguments.summary is not None:
        arguments.summary.write_text(page, encoding="utf-8")
    return 1 if any(history.rows[-1].outcome in ("other", "cannot run") for history in ran.values()) else 0


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
        rows.add_row(row.torch, IN_WORDS[row.outcome], row.line)
    make_console().print(rows)
    changes, there = history.versions.changes, history.versions.on("shows")
    for change in changes:
        print(f"{change.what} between torch {change.after} and {change.by}")
    if there and not changes:
        print(f"in every version that ran: {', '.join(there)}")

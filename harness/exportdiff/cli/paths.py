"""``exportdiff paths``: list the paths with their promises, costs and open bugs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_corpora_option,
    add_json_option,
    add_path_options,
    chosen_paths,
    print_json,
)
from exportdiff.known.corpus.entry import find_files, read_entry

# Functions import the modules that import torch or rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.core.path import Path


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "paths",
        help="list the paths, which are the ways to run a model",
        description="List the paths, which are the ways to run a model: what each promises, what it costs, "
        "how often a campaign uses it, and how many open bugs of the corpus it shows.",
    )
    add_corpora_option(parser, "the corpus whose open bugs are counted")
    add_json_option(parser)
    add_path_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each path, in the canonical order; return 0."""
    from exportdiff.fuzzing.campaign.schedule import share

    paths = chosen_paths(arguments.paths, arguments.device, saved="file:*")
    files = find_files([arguments.corpora]) if arguments.corpora.is_dir() else ()
    found = Counter(entry.path for entry in map(read_entry, files) if entry.status == "open")
    rows = [(path, share(path), found[str(path)]) for path in paths]
    if arguments.json:
        print_json([_document(*row) for row in rows])
    else:
        _print_table(rows)
    return 0


def _document(path: Path, every: int, found: int) -> dict[str, object]:
    from exportdiff.judging.exemptions.backend import backend_of
    from exportdiff.runtime.paths import cost, promise

    backend = backend_of(path)
    return {
        "path": str(path),
        "promise": promise(path),
        "not_promised": [] if backend is None else list(backend.not_promised),
        "milliseconds": cost(path),
        "every": every,
        "found": found,
    }


def _print_table(rows: list[tuple[Path, int, int]]) -> None:
    from exportdiff.interfaces.reports.text import make_console, table
    from exportdiff.runtime.paths import cost, promise

    console = make_console()
    shown = table("path", "promise", "ms", "one program in", "open bugs")
    for path, every, found in rows:
        shown.add_row(str(path), promise(path), f"{cost(path):g}", str(every), str(found))
    console.print(shown)

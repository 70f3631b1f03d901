"""``exportdiff known``: search the known bugs of torch."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError
from exportdiff.interfaces.reports.known_bug_sheets import sheet_lines
from exportdiff.known.catalog import chosen, read_sheets
from exportdiff.known.corpus.entry import default_corpora

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "known",
        help="search the known bugs of torch and of backends: by API, by what you write, by id",
        description="Print the known bugs of torch and of backends that have all of these words in their id, "
        "title, cause, topic or API: what each one does, who meets it, the versions of torch, a short "
        "program that shows it, what to write instead, the thread, and the fix. Of many bugs, only the "
        "titles are printed.",
    )
    parser.add_argument(
        "search",
        nargs="+",
        metavar="SEARCH",
        help="words such as dropout and unflatten, or an id: XD042",
    )
    parser.add_argument("--json", action="store_true", help="print all bugs that match as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the bugs that match; return 1 if there are none."""
    corpora = default_corpora()
    if corpora is None:
        raise UsageError("there is no corpus here, and none is installed")
    sheets = chosen(read_sheets(corpora), arguments.search)
    if arguments.json:
        print(json.dumps([sheet.as_dict() for sheet in sheets], indent=1, ensure_ascii=False))
    elif sheets:
        print("\n".join(sheet_lines(sheets)))
    else:
        print("no known bug has these words; use fewer, or others", file=sys.stderr)
    return 0 if sheets else 1

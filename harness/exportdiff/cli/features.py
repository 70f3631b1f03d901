"""``exportdiff features``: how often random programs have each tag, and each pair of tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_json_option,
    add_profile_option,
    add_seed_option,
    chosen_profile,
    positive,
    print_json,
)
from exportdiff.core.programs import count_tags

# Functions import the module that imports rich, so that ``exportdiff --help`` starts fast.
if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers
    from exportdiff.core.programs import TagCount


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "features",
        help="count the tags of random programs, without running them",
        description="Draw random programs, and count how many have each tag and each pair of tags. A tag "
        "says what a program contains. No program is run.",
    )
    parser.add_argument(
        "--examples", type=positive, default=1000, metavar="N", help="draw N programs (default: 1000)"
    )
    add_seed_option(parser)
    add_profile_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the counts, the rarest tag first; return 0."""
    counted = count_tags(arguments.seed, arguments.examples, chosen_profile(arguments.profile))
    if arguments.json:
        print_json(_document(counted))
    else:
        _print_table(counted)
    return 0


def _document(counted: TagCount) -> dict[str, object]:
    return {
        "examples": counted.examples,
        "seconds": round(counted.seconds, 3),
        "tags": counted.tags,
        "pairs": {"|".join(pair): number for pair, number in counted.pairs.items()},
    }


def _print_table(counted: TagCount) -> None:
    from exportdiff.interfaces.reports.text import make_console, table

    console = make_console()
    rows = table("tag", "meaning", "count", "percent")
    for tag, number in sorted(counted.tags.items(), key=lambda pair: pair[1]):
        # Readers look for the tags that no program has.
        style = "bold red" if number == 0 else None
        rows.add_row(tag, counted.meanings[tag], str(number), _percent(number, counted.examples), style=style)
    console.print(rows)
    seen, possible = len(counted.pairs), counted.possible
    console.print(
        f"pairs of tags: {seen} of {possible} possible ones were drawn ({_percent(seen, possible)} %)",
        highlight=False,
    )
    each = 1000 * counted.seconds / counted.examples
    console.print(f"{each:.1f} ms to draw and render a program", highlight=False)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "0.0"

"""``exportdiff show``: print the program of an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.cli.arguments import (
    add_around_option,
    add_corpora_option,
    add_near_option,
    add_profile_option,
    add_seed_option,
    chosen_profile,
    natural,
)
from exportdiff.cli.around import chosen_around, drawn_around, run_in_child
from exportdiff.core.programs import program_source

if TYPE_CHECKING:
    import argparse

    from exportdiff.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "show",
        help="print one program of a campaign",
        description="Draw one program of a campaign again, and print it as Python source.",
    )
    add_seed_option(parser)
    parser.add_argument(
        "--example", type=natural, required=True, metavar="K", help="the number of the program, from 0"
    )
    add_profile_option(parser)
    add_around_option(parser)
    add_near_option(parser)
    add_corpora_option(parser, "the corpus of --near")
    parser.add_argument("--features", action="store_true", help="also print the tags of the program")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the source, and with ``--features`` the tags in a comment below it; return 0."""
    if arguments.around:
        around = chosen_around(arguments.around)
        source, tags = drawn_around(around, arguments.seed, arguments.example)
    elif arguments.near is not None:
        from exportdiff.fuzzing.near.drawing import near_program
        from exportdiff.fuzzing.near.loading import read_near

        near = read_near(arguments.near, arguments.corpora)
        source, tags = run_in_child("--near", near_program, near, arguments.seed, arguments.example)
    else:
        source, tags = program_source(arguments.seed, arguments.example, chosen_profile(arguments.profile))
    print(source.rstrip("\n"))
    if arguments.features:
        print("\n# features: " + " ".join(tags))
    return 0

"""``exportdiff show``: print the program of an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.cli.arguments import add_profile_option, chosen_profile, natural

if TYPE_CHECKING:
    import argparse

    from harness.cli.types import Subparsers


def add(commands: Subparsers) -> None:
    """Add the command."""
    parser = commands.add_parser("show", help="print the source of one example of a campaign")
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="default: 0")
    parser.add_argument("--example", type=natural, required=True, metavar="K", help="its index")
    add_profile_option(parser)
    parser.add_argument("--features", action="store_true", help="print its feature tags as well")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the source; with ``--features``, the tags as comments below."""
    from harness.programs import program_source

    source, features = program_source(arguments.seed, arguments.example, chosen_profile(arguments.profile))
    print(source.rstrip("\n"))
    if arguments.features:
        print("\n# features: " + " ".join(features))
    return 0

"""The command reference, COMMANDS.md beside this file, made from the parsers.

``python -m exportdiff.cli.reference`` writes it; a test compares it with the parsers.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import TYPE_CHECKING

from exportdiff.cli import make_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = pathlib.Path(__file__).with_name("COMMANDS.md")


def text() -> str:
    """Return the reference of all commands as Markdown."""
    lines = [
        "# Commands",
        "",
        "Made from the parsers by `python -m exportdiff.cli.reference`. Exit codes of every command: "
        "0 nothing (new) found; 1 findings; 2 an argument or the environment is wrong, or nothing could be "
        "judged; 3 exportdiff itself failed.",
        "",
    ]
    for words, parser in _commands(make_parser(), ()):
        lines += _section(words, parser)
    return "\n".join(lines).rstrip() + "\n"


def _commands(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Yield every command that has no further commands below it."""
    # argparse offers no public way to list what a parser accepts.
    below = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not below:
        yield words, parser
    for action in below:
        for word, command in action.choices.items():
            yield from _commands(command, (*words, word))


def _section(words: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## exportdiff {' '.join(words)}"
    yield ""
    if parser.description:
        yield parser.description
        yield ""
    rows = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
    if rows:
        yield "| argument | meaning |"
        yield "| --- | --- |"
        yield from (f"| `{_written(each)}` | {_meaning(each)} |" for each in rows)
        yield ""


def _written(action: argparse.Action) -> str:
    if action.metavar:
        value = str(action.metavar)
    elif action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = action.dest.upper()
    if action.nargs in ("*", "+"):
        value += " ..."
    if not action.option_strings:
        return value.replace("|", "\\|")
    names = ", ".join(action.option_strings)
    return (names if action.nargs == 0 else f"{names} {value}").replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    values = {**vars(action), "prog": "exportdiff"}
    return ((action.help or "") % values).replace("|", "\\|")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")

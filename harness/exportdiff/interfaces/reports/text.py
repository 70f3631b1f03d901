"""Text for consoles: findings, tables, and the consoles themselves."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from exportdiff.core.finding import Finding

PLAIN_WIDTH = 160
"""The width of tables where standard output is not a terminal."""
TEXT_WIDTH = 80
"""The width of sentences where standard output is not a terminal."""
PATHS_SHOWN = 7
"""How many further paths are printed with a finding: enough for all that people deploy. JSON has all."""


def headline(finding: Finding) -> str:
    """Return ``outputs mismatch on nonstrict:unflatten@cpu  [0123456789]``."""
    stage = f" in {finding.stage}" if finding.kind == "crash" else ""
    return f"{finding.check} {finding.kind}{stage} on {finding.path}  [{finding.fingerprint}]"


def finding_block(finding: Finding, commands: Iterable[str]) -> Text:
    """Return the text of a finding: its headline, the difference, and the commands that show it.

    Print it with ``soft_wrap``, so that readers can copy the commands.
    """
    block = Text(f"{headline(finding)}\n", style="")
    block.stylize("bold red")
    block.append(wrapped(finding.message.strip()) + "\n")
    if further := finding.shown_on[1:]:
        more = ", …" if len(further) > PATHS_SHOWN else ""
        named = ", ".join(path.without_device for path in further[:PATHS_SHOWN])
        block.append(wrapped(f"also on {named}{more}") + "\n", style="dim")
    for consequence in finding.consequences[:3]:
        block.append(wrapped(f"also: {consequence}") + "\n", style="dim")
    for command in commands:
        block.append(f"$ {command}\n", style="cyan")
    return block


def wrapped(text: str, width: int = TEXT_WIDTH) -> str:
    """Break lines at spaces, so that they fit; further lines are indented. No word is broken."""
    return "\n".join(map(partial(_wrapped_line, width=width), text.splitlines()))


def _wrapped_line(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Print lines, broken at spaces."""
    width = console.width if console.is_terminal else TEXT_WIDTH
    for line in lines:
        console.print(wrapped(line, width), style=style, soft_wrap=True, highlight=False)


def left_out_line(torch: str, left_out: Mapping[str, Sequence[str]]) -> str:
    """Return a line about what this torch lacks and what is left out for that; empty if it has all."""
    parts = [f"{name} ({', '.join(users)})" for name, users in left_out.items()]
    return f"torch {torch} has no {', no '.join(parts)}: left out" if parts else ""


def table(*headers: str) -> Table:
    """Return an empty table in the style of all commands."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        made.add_column(header, overflow="fold")
    return made


AS_WRITTEN: dict[str, Any] = {"emoji": False, "markup": False}
"""Print names of users unchanged: rich would find an emoji in "model.py:one", and markup in "s[bold]"."""


def make_error_console() -> Console:
    """Return a console on standard error, for progress."""
    return Console(stderr=True, **AS_WRITTEN)


def make_console(*, quiet: bool = False) -> Console:
    """Return a console on standard output; a ``quiet`` one prints nothing."""
    console = Console(quiet=quiet, **AS_WRITTEN)
    return console if console.is_terminal else Console(width=PLAIN_WIDTH, quiet=quiet, **AS_WRITTEN)

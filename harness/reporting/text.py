"""Findings, programs and tables as text for a console."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from harness.programs import DEFAULT_PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.findings import Finding
    from harness.known.standing import Standing

PLAIN_WIDTH = 160
"""The width of lines where standard output is not a terminal."""

MOST_FIXES = 5
"""How many fixes a line names: more only come together where a search ended early."""

_HEADER = re.compile(r"\A(#[^\n]*\n)+\n*")


def headline(finding: Finding) -> str:
    """Return ``outputs mismatch on nonstrict:unflatten@cpu  [0123456789]``."""
    stage = f" in {finding.stage}" if finding.kind == "crash" else ""
    return f"{finding.check} {finding.kind}{stage} on {finding.path}  [{finding.fingerprint}]"


def source_text(source: str, console: Console) -> Text:
    """Return the program, with highlighted syntax on a terminal."""
    code = _HEADER.sub("", source).strip("\n")
    if not console.is_terminal:
        return Text(code)
    return Syntax(code, "python", theme="ansi_dark", background_color="default").highlight(code)


def finding_block(finding: Finding, commands: Iterable[str], console: Console, *, source: str = "") -> Text:
    """Return the whole text of a finding: its headline, the program, the difference, how to reproduce it.

    Print it with ``soft_wrap``: readers copy the program and the commands.
    """
    block = Text(f"{headline(finding)}\n", style="")
    block.stylize("bold red")
    if source:
        block.append_text(Text("\n")).append_text(source_text(source, console)).append("\n\n")
    block.append(finding.message.strip() + "\n")
    for line in finding.also[:3]:
        block.append(f"also: {line}\n", style="dim")
    for command in commands:
        block.append(f"$ {command}\n", style="cyan")
    return block


def standing_lines(standing: Standing) -> Iterator[str]:
    """Yield one line each for the fixes that a finding needs, and for a remark."""
    more = len(standing.fixes) - MOST_FIXES
    fixes = ", ".join(standing.fixes[:MOST_FIXES]) + (f" and {more} more" if more > 0 else "")
    if standing.kind == "masked":
        yield f"masked: a known bug hides it; it shows with these fixes in place: {fixes}"
    if standing.kind == "regression":
        yield f"regression: torch is right; it shows with these fixes in place: {fixes}"
    if standing.remark:
        yield f"remark: {standing.remark}"


def show_command(seed: int, example: int, profile: str) -> str:
    """Return the command that prints the program of an example."""
    chosen = f" --profile {profile}" if profile != DEFAULT_PROFILE else ""
    return f"exportdiff show --seed {seed} --example {example}{chosen}"


def table(*headers: str) -> Table:
    """Return an empty table, in the style of all commands."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        made.add_column(header, overflow="fold")
    return made


def make_console() -> Console:
    """Return a console on stdout; lines may be long where stdout is not a terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=PLAIN_WIDTH)

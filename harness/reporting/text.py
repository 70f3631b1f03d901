"""How findings look on a console, live or plain: shared by ``fuzz`` and ``check``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from harness.findings import Finding

MAX_LINES = 10
"""Of a difference: what does not fit there belongs in the repro file."""

_HEADER = re.compile(r"\A(#[^\n]*\n)+\n*")


def headline(finding: Finding) -> str:
    """``outputs mismatch on nonstrict:unflatten@cpu  [0123456789]``."""
    stage = f" in {finding.stage}" if finding.kind == "crash" else ""
    return f"{finding.check} {finding.kind}{stage} on {finding.path}  [{finding.fingerprint}]"


def difference(finding: Finding) -> str:
    """Return the message, cut to what a reader takes in."""
    lines = finding.message.strip().splitlines()
    cut = lines[:MAX_LINES]
    if len(lines) > MAX_LINES:
        cut[-1] = f"… {len(lines) - MAX_LINES + 1} more lines"
    return "\n".join(cut)


def source_block(source: str, console: Console) -> RenderableType:
    """Return the program, highlighted where there are colors."""
    text = _HEADER.sub("", source).strip("\n")
    if console.is_terminal:
        return Syntax(text, "python", theme="ansi_dark", background_color="default")
    return Text(text)


def finding_block(
    finding: Finding, commands: Iterable[str], console: Console, *, source: str = "", tag: str = ""
) -> RenderableType:
    """Return the whole of a finding: what, the program, the difference, how to reproduce it."""
    parts: list[RenderableType] = [Text(f"{tag}{headline(finding)}", style="bold red")]
    if source:
        parts.append(Padding(source_block(source, console), (1, 0, 1, 2)))
    parts.append(Padding(Text(difference(finding)), (0, 0, 0, 2)))
    parts.extend(Padding(Text(line, style="dim"), (0, 0, 0, 2)) for line in finding.also[:3])
    # Never wrapped: these are there to be copied.
    parts.extend(
        Padding(Text(f"$ {command}", style="cyan", no_wrap=True, overflow="ignore"), (0, 0, 0, 2))
        for command in commands
    )
    return Group(*parts, Text(""))


def table(*headers: str) -> Table:
    """Return a table in the one style that all of them have."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        made.add_column(header, overflow="fold")
    return made

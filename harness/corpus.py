"""Corpus files: finding them, and reading their metadata."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CORPORA = Path("corpora")
"""Where the commands look for a corpus: below the folder that they are started in."""

FIXES = "fixes"
"""The folder of the candidate fixes, in that of a corpus."""

EXPECTED = {"seed": 0, "fixed": 0, "open": 1}
"""What a file of each status must exit with."""

_HEADER = re.compile(r"^# /// script\n(?P<toml>(#( .*)?\n)+?)# ///$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One corpus file; ``problem`` says why it cannot be replayed."""

    file: Path
    status: str = ""
    fingerprint: str = ""
    signatures: tuple[tuple[str, ...], ...] = ()
    """How the bug shows: the beginnings of the signatures of its findings."""
    path: str = ""
    """The path that shows it."""
    check: str = ""
    kind: str = ""
    title: str = ""
    at_fault: str = ""
    """Where torch is wrong: file, function and what it does."""
    fix: str = ""
    """The candidate fix that mends it, by its name in corpora/fixes; empty: there is none."""
    trigger: tuple[str, ...] = ()
    """Where there is no fix: the feature tags that a program needs to show the bug."""
    upstream: str | None = None
    """The thread where PyTorch knows it; empty: looked for and not found; None: not looked for."""
    affected: str = ""
    problem: str = ""


def find_files(names: Iterable[Path]) -> Iterator[Path]:
    """Return the files named, and those below the folders named, sorted."""
    for name in names:
        yield from sorted(name.rglob("*.py")) if name.is_dir() else (name,)


def read_entry(file: Path) -> Entry:
    """Read a file's ``[tool.exportdiff]`` table; never raises, and never runs the file."""
    try:
        match = _HEADER.search(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Entry(file, problem="there is no such file")
    except (OSError, UnicodeDecodeError) as error:
        return Entry(file, problem=f"cannot be read: {error}")
    if match is None:
        return Entry(file, problem="has no '# /// script' header")
    try:
        table = _table(match["toml"])
    except tomllib.TOMLDecodeError as error:
        return Entry(file, problem=f"has a broken header: {error}")
    status = str(table.get("status", ""))
    if status not in EXPECTED:
        known = ", ".join(EXPECTED)
        return Entry(file, problem=f"has status {status!r} in [tool.exportdiff]; expected {known}")
    return Entry(
        file,
        status,
        fingerprint=str(table.get("fingerprint", "")),
        signatures=tuple(tuple(map(str, words)) for words in table.get("signatures", ())),
        path=str(table.get("path", "")),
        check=str(table.get("check", "")),
        kind=str(table.get("kind", "")),
        title=str(table.get("title", "")),
        at_fault=str(table.get("at-fault", "")),
        fix=str(table.get("fix", "")),
        trigger=tuple(map(str, table.get("trigger", ()))),
        upstream=str(table["upstream"]) if "upstream" in table else None,
        affected=str(table.get("affected", "")),
    )


def open_signatures(corpora: Path) -> dict[tuple[str, ...], Path]:
    """Return the beginnings of the signatures of what the corpus holds as open, with the file of each."""
    entries = [read_entry(file) for file in find_files([corpora])]
    return {words: entry.file for entry in entries if entry.status == "open" for words in entry.signatures}


def _table(header: str) -> dict[str, Any]:
    lines = (line.removeprefix("#").removeprefix(" ") for line in header.splitlines())
    table = tomllib.loads("\n".join(lines)).get("tool", {}).get("exportdiff", {})
    return table if isinstance(table, dict) else {}

"""Corpus files: finding them, and reading their metadata."""

from __future__ import annotations

import ast
import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CORPORA = pathlib.Path("corpora")
"""Where the commands look for a corpus: below the folder that they are started in."""

FIXES = "fixes"
"""The folder of the candidate fixes, in that of a corpus."""

EXPECTED = {"seed": 0, "fixed": 0, "open": 1}
"""What a file of each status must exit with."""

HEADER = re.compile(r"^# /// script\n(?P<toml>(#( .*)?\n)+?)# ///$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One corpus file; ``problem`` says why it cannot be replayed."""

    file: pathlib.Path
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
    unmasked: tuple[tuple[str, ...], ...] = ()
    """Beginnings of the signatures of what shows only once the fix is in place."""
    undetected_because: str = ""
    """Why the checks cannot show the bug, though the file does; empty: they do."""
    problem: str = ""


def find_files(names: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
    """Return the files named, and those below the folders named, sorted."""
    for name in names:
        yield from sorted(name.rglob("*.py")) if name.is_dir() else (name,)


def read_entry(file: pathlib.Path) -> Entry:
    """Read a file's ``[tool.exportdiff]`` table; never raises, and never runs the file."""
    try:
        source = file.read_text(encoding="utf-8")
        match = HEADER.search(source)
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
    if flaw := flaw_of(source):
        return Entry(file, status, problem=flaw)
    return Entry(
        file,
        status,
        fingerprint=str(table.get("fingerprint", "")),
        signatures=_signatures(table),
        path=str(table.get("path", "")),
        check=str(table.get("check", "")),
        kind=str(table.get("kind", "")),
        title=str(table.get("title", "")),
        at_fault=str(table.get("at-fault", "")),
        fix=str(table.get("fix", "")),
        trigger=tuple(map(str, table.get("trigger", ()))),
        upstream=str(table["upstream"]) if "upstream" in table else None,
        affected=str(table.get("affected", "")),
        unmasked=tuple(tuple(map(str, words)) for words in table.get("unmasked", ())),
        undetected_because=str(table.get("undetected-because", "")),
    )


def flaw_of(source: str) -> str:
    """Say why the text of a file is no corpus file's, without running it; empty if it may be one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return f"does not parse: {type(error).__name__}: {error.args[0]}{line}"
    foreign = sorted(_imported(tree) - sys.stdlib_module_names - {"torch"})
    if foreign:
        return f"imports {', '.join(foreign)}: a corpus file imports torch and nothing else"
    if not any(isinstance(node, ast.FunctionDef) and node.name == "make" for node in tree.body):
        return "defines no make() that returns (model, args)"
    return ""


def _imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def _signatures(table: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Read ``signatures``; files that a campaign wrote have one, whole: ``signature``."""
    if "signature" in table:
        return (tuple(map(str, table["signature"])),)
    return tuple(tuple(map(str, words)) for words in table.get("signatures", ()))


def _table(header: str) -> dict[str, Any]:
    lines = (line.removeprefix("#").removeprefix(" ") for line in header.splitlines())
    table = tomllib.loads("\n".join(lines)).get("tool", {}).get("exportdiff", {})
    return table if isinstance(table, dict) else {}

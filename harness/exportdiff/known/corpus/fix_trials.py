"""What a trial of the fixes has shown on a torch: which of them mend their entries there. Kept on disk.

A row is kept for each fix, by the torch, the contents of its patches and the code of its entries. So a change
of one patch leaves the others tried, and what a header or a docstring says makes no difference. Nothing here
imports torch.
"""

from __future__ import annotations

import ast
import hashlib
import json
import pathlib
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal, TypeAlias

import platformdirs

from exportdiff.core.cache_files import write_cache_file
from exportdiff.core.program_text.parsing import parse
from exportdiff.known.corpus.entry import FIXES, find_files, read_entry
from exportdiff.runtime.patching.fixes import read_candidates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fixes import Fix

Status: TypeAlias = Literal["usable", "fixed upstream", "does not fit", "does not mend", "not tried"]
"""``usable``: an entry shows its bug without the fix, and all pass with it. ``fixed upstream``: all entries
pass without it. ``not tried``: no entry could be run, so nobody knows."""


@dataclass(frozen=True)
class Row:
    """What the trial of one fix has shown."""

    name: str
    patch: str
    """The patch that was chosen for this torch."""
    status: Status
    detail: str = ""
    """Why it is not usable."""
    fixed: tuple[str, ...] = ()
    """The entries of the fix that pass on this torch without it."""
    broken: tuple[str, ...] = ()
    """The entries of the fix that cannot be run on this torch: they fail in another way than by their bug."""


@dataclass(frozen=True)
class Subject:
    """A fix with what its trial depends on."""

    name: str
    candidates: tuple[Fix, ...]
    entries: tuple[Entry, ...]

    @property
    def file(self) -> pathlib.Path:
        """Where its row is kept for the installed torch."""
        digest = hashlib.sha256(f"3\0{version('torch')}\0{self.name}\0".encode())
        for fix in self.candidates:
            digest.update(f"{fix.patch}\0{fix.diff}\0".encode())
        for entry in self.entries:
            code = code_of(entry.file.read_text(encoding="utf-8", errors="replace"))
            digest.update(f"{entry.file.name}\0{code}\0".encode())
        return cache_folder() / "fit" / f"{digest.hexdigest()}.json"

    @property
    def row(self) -> Row | None:
        """What its trial has shown; None: it was not tried on the installed torch."""
        try:
            fields = json.loads(self.file.read_text(encoding="utf-8"))
            lists = {name: tuple(fields[name]) for name in ("fixed", "broken")}
            return Row(**{**fields, **lists})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self, row: Row) -> None:
        """Write the row to the cache."""
        write_cache_file(self.file, json.dumps(asdict(row)).encode())

    @property
    def vouched(self) -> bool:
        """Whether a patch names the installed torch in its ``Fits:`` line: the tests are its trial."""
        release = version("torch").partition("+")[0]
        return any(release in fix.fits for fix in self.candidates)


def code_of(text: str) -> str:
    """Return the code of a file without comments and docstring; if it is not Python, its text."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        return text
    first = tree.body[0] if tree.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del tree.body[0]
    return ast.dump(tree)


def cache_folder() -> pathlib.Path:
    """Return the folder of this user where results are kept that take long to compute."""
    return pathlib.Path(platformdirs.user_cache_dir("exportdiff"))


def subjects(corpora: pathlib.Path, entries: Sequence[Entry] | None = None) -> tuple[Subject, ...]:
    """Return the fixes of a corpus, each with its open entries. Raises FixError."""
    if entries is None:
        entries = open_entries(corpora)
    of_fix: dict[str, list[Entry]] = {}
    for entry in entries:
        of_fix.setdefault(entry.fix, []).append(entry)
    found = read_candidates(corpora / FIXES)
    return tuple(Subject(name, candidates, tuple(of_fix.get(name, ()))) for name, candidates in found.items())


def open_entries(corpora: pathlib.Path) -> tuple[Entry, ...]:
    """Return the entries of a corpus that are about bugs of today."""
    return tuple(entry for entry in map(read_entry, find_files([corpora])) if entry.status == "open")


def untried(corpora: pathlib.Path) -> tuple[str, ...]:
    """Return the fixes of which nobody knows whether they mend on the installed torch. Raises FixError."""
    found = subjects(corpora, ())
    if all(each.vouched for each in found):
        return ()
    return tuple(each.name for each in subjects(corpora) if not each.vouched and each.row is None)


def statuses(rows: Mapping[str, Row]) -> dict[Status, int]:
    """Count the rows by status."""
    found = [row.status for row in rows.values()]
    return {status: found.count(status) for status in dict.fromkeys(found)}

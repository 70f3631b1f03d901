"""The results of trying the fixes on a version of torch, cached on disk: which fixes mend their entries.

There is a result for each fix, version of torch, text of its patches and code of its entries. So a changed
patch makes only its own trial invalid, and headers and docstrings do not matter. This does not import torch.
"""

from __future__ import annotations

import ast
import hashlib
import json
import pathlib
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from exportdiff.core.cache_files import cache_folder, write_cache_file
from exportdiff.core.program_text.parsing import parse
from exportdiff.core.torch_versions import torch_digest
from exportdiff.known.corpus.entry import FIXES, find_files, read_entry
from exportdiff.known.corpus.recorded_texts import recorded_texts
from exportdiff.known.corpus.workaround import without_workaround
from exportdiff.runtime.patching.fixes import read_candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.runtime.patching.fixes import Fix

Status: TypeAlias = Literal["usable", "fixed upstream", "does not fit", "does not mend", "not tried"]
"""``usable``: an entry shows its bug without the fix, and all pass with it. ``fixed upstream``: all entries
pass without it. ``not tried``: no entry could be run."""


@dataclass(frozen=True)
class TrialResult:
    """The result of trying one fix."""

    name: str
    patch: str
    """The file name of the patch that was chosen for this torch."""
    status: Status
    detail: str = ""
    """Why it is not usable."""
    fixed: tuple[str, ...] = ()
    """The names of its entries that pass on this torch without the fix."""
    broken: tuple[str, ...] = ()
    """The names of its entries that fail on this torch in another way than by their bug."""


@dataclass(frozen=True)
class FixTrial:
    """A fix, with everything that the result of its trial depends on."""

    name: str
    candidates: tuple[Fix, ...]
    entries: tuple[Entry, ...]
    declared: bool = False
    """Whether its author tried it on the text of torch that is installed, so that it needs no trial."""

    @property
    def file(self) -> pathlib.Path:
        """The file with its result for the installed torch."""
        digest = hashlib.sha256(f"4\0{torch_digest()}\0{self.name}\0".encode())
        for fix in self.candidates:
            digest.update(f"{fix.patch}\0{fix.diff}\0".encode())
        for entry in self.entries:
            code = code_of(entry.file.read_text(encoding="utf-8", errors="replace"))
            digest.update(f"{entry.file.name}\0{code}\0".encode())
        return cache_folder() / "fit" / f"{digest.hexdigest()}.json"

    @property
    def result(self) -> TrialResult | None:
        """The cached result; None: the fix was not tried on the installed torch."""
        try:
            fields = json.loads(self.file.read_text(encoding="utf-8"))
            lists = {name: tuple(fields[name]) for name in ("fixed", "broken")}
            return TrialResult(**{**fields, **lists})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def save(self, result: TrialResult) -> None:
        """Cache the result. If the folder cannot be written, the trial runs again next time."""
        write_cache_file(self.file, json.dumps(asdict(result)).encode())


def code_of(text: str) -> str:
    """Return the program of a file without comments and docstring; its text, if it is not Python."""
    try:
        tree = parse(without_workaround(text))
    except (SyntaxError, ValueError):
        return text
    first = tree.body[0] if tree.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del tree.body[0]
    return ast.dump(tree)


def fix_trials(corpora: pathlib.Path, entries: Sequence[Entry] | None = None) -> tuple[FixTrial, ...]:
    """Return the fixes of a corpus, each with its open entries. Raises FixError."""
    if entries is None:
        entries = open_entries(corpora)
    of_fix: dict[str, list[Entry]] = {}
    for entry in entries:
        of_fix.setdefault(entry.fix, []).append(entry)
    found = read_candidates(corpora / FIXES)
    texts = recorded_texts(corpora)
    return tuple(
        FixTrial(name, candidates, tuple(of_fix.get(name, ())), any(map(texts.tried, candidates)))
        for name, candidates in found.items()
    )


def open_entries(corpora: pathlib.Path) -> tuple[Entry, ...]:
    """Return the entries of a corpus with the status "open"."""
    return tuple(entry for entry in map(read_entry, find_files([corpora])) if entry.status == "open")


def untried_fixes(corpora: pathlib.Path) -> tuple[FixTrial, ...]:
    """Return the fixes that need a trial on the installed torch, and have no result. Raises FixError."""
    if all(each.declared for each in fix_trials(corpora, ())):
        return ()
    return tuple(each for each in fix_trials(corpora) if not each.declared and each.result is None)


def count_statuses(results: Iterable[TrialResult]) -> str:
    """Return the number of results of each status, as in ``3 usable, 1 does not fit``."""
    counts = Counter(result.status for result in results)
    return ", ".join(f"{number} {status}" for status, number in counts.items())

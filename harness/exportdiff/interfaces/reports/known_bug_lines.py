"""Explains to people why a finding happens and what to do: the known bugs and their workarounds."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.interfaces.checking.found import SURE
from exportdiff.interfaces.reports.text import wrapped
from exportdiff.known.corpus.entry import BACKENDS
from exportdiff.known.corpus.known_bug import not_found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.interfaces.checking.found import Found
    from exportdiff.known.attribution.explained import KnownCause
    from exportdiff.known.corpus.known_bug import KnownBug
    from exportdiff.known.corpus.workaround import Workaround

NAMED = 3
"""How many bugs are named if it is not known which of them are necessary; JSON names all."""


class KnownBugLines:
    """Writes the known bugs of several findings; each bug is described once."""

    def __init__(self, corpora: pathlib.Path | None) -> None:
        """``corpora``: the folder of the entries; None: they are named without their files."""
        self._corpora = corpora
        self._described: set[str] = set()

    def of(self, found: Found) -> Iterator[str]:
        """Yield lines of at most 80 columns, except for code; none if no bug explains the finding."""
        if not found.decided:
            yield from self._undecided(found.named)
            return
        if len(found.named) > 1:
            yield f"{len(found.named)} known bugs together:"
        for cause in found.named:
            yield from self._bug(cause, found)

    def _undecided(self, causes: tuple[KnownCause, ...]) -> Iterator[str]:
        yield "known bugs: one of these, or several of them together"
        for cause in causes[:NAMED]:
            yield wrapped(f"  {' '.join([*_id(cause), _title(cause)])} [{cause.root}]")
        if len(causes) > NAMED:
            yield f"  and {len(causes) - NAMED} more"

    def _bug(self, cause: KnownCause, found: Found) -> Iterator[str]:
        again = cause.root in self._described
        self._described.add(cause.root)
        above = " (see above)" if again else ""
        product = "torch" if cause.bug is None else cause.bug.product
        yield wrapped(f"{' '.join(['known bug of', product, *_id(cause)])}: {_title(cause)}{above}")
        if again:
            return
        bug = cause.bug
        if bug is not None and found.meaning != "harmless":
            yield wrapped(f"  why: {bug.cause}")
            yield f"  how sure: the finding {SURE[found.by]} this bug"
            if words := bug.versions.in_words:
                yield wrapped(f"  versions: {words}")
            yield from (wrapped(f"  {name}: {text}") for name, text in thread(bug))
        yield f"  read more: {self._file(cause)}"
        if bug is not None and bug.workaround is not None and found.meaning != "harmless":
            yield from _workaround(bug.workaround, found)

    def _file(self, cause: KnownCause) -> str:
        if self._corpora is not None and cause.entry:
            return str(file_of_bug(self._corpora, cause.entry))
        return cause.root


def file_of_bug(corpora: pathlib.Path, entry: str) -> pathlib.Path:
    """Return the file of the entry of a root cause."""
    of_backend = corpora.glob(f"{BACKENDS}/*/{entry}.py")
    return next(of_backend, corpora / "open" / f"{entry}.py")


def _id(cause: KnownCause) -> tuple[str, ...]:
    return (cause.bug.id,) if cause.bug is not None and cause.bug.id else ()


def _title(cause: KnownCause) -> str:
    return cause.bug.title if cause.bug is not None else cause.root


def thread(bug: KnownBug) -> Iterator[tuple[str, str]]:
    """Yield the thread about the bug, what both have in common, and why the behaviour was defended."""
    if bug.upstream:
        same = f" (the same {bug.upstream_match})" if bug.upstream_match else ""
        yield "thread", f"{bug.upstream}{same}"
    elif bug.upstream is not None:
        yield "thread", not_found(bug.upstream_searched)
    if bug.defended:
        yield "defended by PyTorch", bug.defended


def _workaround(workaround: Workaround, found: Found) -> Iterator[str]:
    """Yield what to write instead; for a changed line, where the user has such a line."""
    place = found.finding.first_difference
    where = ""
    if workaround.changes_first and place is not None and place.line is not None:
        where = f" (here {pathlib.PurePath(place.file).name}:{place.line})"
    first, *code = workaround.text.splitlines()
    yield wrapped(f"workaround{where}: {first}")
    yield from code

"""The known bugs of a corpus, for people who search: each with a program of a few lines and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from exportdiff.known.corpus.apis import Api, api_of
from exportdiff.known.corpus.entry import read_entry
from exportdiff.known.corpus.known_bug import KnownBug, known_bug
from exportdiff.known.corpus.ranking import RootCause, root_causes
from exportdiff.known.corpus.topics import TOPICS
from exportdiff.known.upstream.plain_program import plain_program

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable, Sequence

    from exportdiff.known.corpus.entry import Entry


@dataclass(frozen=True)
class BugSheet:
    """A root cause, as people look it up."""

    entry: Entry
    variants: tuple[str, ...] = ()
    """The names of other files with the same cause."""
    open: bool = True
    """Whether the bug is in the newest torch that was tried."""

    @cached_property
    def bug(self) -> KnownBug:
        """Its title and cause, the versions, and what to write instead."""
        return known_bug(self.entry)

    @cached_property
    def api(self) -> Api:
        """The part of torch that it belongs to."""
        return api_of(self.entry)

    @cached_property
    def program(self) -> str:
        """A program that shows it: it prints the two values, or raises the exception."""
        program = plain_program(self.entry)
        return program.text(prints=program.compares)

    @cached_property
    def _words(self) -> str:
        """The text that a search looks at."""
        entry = self.entry
        topics = (f"{word} {TOPICS[word]}" for word in entry.topics)
        parts = (
            *(entry.id, *entry.former_ids, entry.name, *self.variants, entry.title, entry.cause),
            *(entry.reach_because, entry.at_fault, entry.harm or "", self.api.title, *topics),
        )
        return " ".join(parts).casefold()

    def matches(self, words: Sequence[str]) -> bool:
        """Whether each of these words occurs in its id, title, cause, topics or API."""
        return all(word.casefold() in self._words for word in words)

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        entry, workaround = self.entry, self.bug.workaround
        return {
            "id": entry.id,
            "name": entry.name,
            "severity": entry.severity,
            "harm": entry.harm,
            "reach": entry.reach,
            "reach_because": entry.reach_because,
            "evidence": list(entry.evidence),
            "api": self.api.title,
            "topics": list(entry.topics),
            **self.bug.as_dict(),
            "upstream_fix": entry.upstream_fix,
            "at_fault": entry.at_fault,
            "program": self.program,
            "workaround": workaround.text if workaround is not None else None,
            "fix": entry.fix,
            "file": str(entry.file),
        }


def read_sheets(corpora: pathlib.Path) -> tuple[BugSheet, ...]:
    """Return the root causes of a corpus: first those of the newest torch, and of these the most severe.

    Those of backends too: reading them needs no backend.
    """
    return in_order(map(sheet_of, root_causes(map(read_entry, sorted(corpora.rglob("*.py"))))))


def in_order(sheets: Iterable[BugSheet]) -> tuple[BugSheet, ...]:
    """Put what is fixed in the newest torch at the end."""
    return tuple(sorted(sheets, key=lambda sheet: not sheet.open))


def sheet_of(cause: RootCause) -> BugSheet:
    """Return what people look up about a root cause."""
    return BugSheet(cause.entry, tuple(each.name for each in cause.variants), cause.open)


def chosen(sheets: Sequence[BugSheet], search: Sequence[str]) -> tuple[BugSheet, ...]:
    """Return the bug with the searched id or name, or else all bugs that match each of the words."""
    if len(search) == 1:
        wanted = search[0].casefold()
        exact = [
            sheet
            for sheet in sheets
            if wanted in {sheet.entry.name, *map(str.casefold, (sheet.entry.id, *sheet.entry.former_ids))}
        ]
        if exact:
            return tuple(exact)
    words = [word for part in search for word in re.split(r"\s+", part.strip()) if word]
    return tuple(sheet for sheet in sheets if sheet.matches(words))

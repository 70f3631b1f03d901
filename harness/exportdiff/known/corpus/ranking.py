"""Sorts the root causes of a corpus by severity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.known.corpus.entry import find_files, read_entry

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Iterable

    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.corpus.severity import Harm

_HARMS: tuple[Harm, ...] = ("silently wrong", "wrong later", "obscure error", "clear error", "cosmetic")
"""The worst first."""


@dataclass(frozen=True)
class RootCause:
    """One mechanism in one place of torch."""

    entry: Entry
    """The entry with the most natural program."""
    variants: tuple[Entry, ...] = ()
    """Its variants, sorted by name."""

    @property
    def open(self) -> bool:
        """Whether the bug is in the newest torch that was tried: one of its files shows it there."""
        return any(each.versions.open for each in (self.entry, *self.variants))

    @property
    def fixes(self) -> tuple[str, ...]:
        """The names of its fixes, first that of the entry. Variants may need a fix in another place."""
        return tuple(dict.fromkeys(each.fix for each in (self.entry, *self.variants) if each.fix))


def root_causes(entries: Iterable[Entry]) -> tuple[RootCause, ...]:
    """Return the root causes of the open entries: the most severe first, and of these the worst harm.

    A variant whose entry is not given becomes a root cause.
    """
    entries = [entry for entry in entries if entry.status == "open" and not entry.problem]
    names = {entry.name for entry in entries if not entry.variant_of}
    variants: dict[str, list[Entry]] = {}
    roots: list[Entry] = []
    for entry in entries:
        if entry.variant_of in names:
            variants.setdefault(entry.variant_of, []).append(entry)
        else:
            roots.append(entry)
    return tuple(
        RootCause(entry, tuple(sorted(variants.get(entry.name, ()), key=lambda each: each.name)))
        for entry in sorted(roots, key=_rank)
    )


def read_root_causes(corpora: pathlib.Path) -> tuple[RootCause, ...]:
    """Read a corpus; see ``root_causes``."""
    return root_causes(map(read_entry, find_files([corpora])))


def _rank(entry: Entry) -> tuple[str, int, str]:
    harm = _HARMS.index(entry.harm) if entry.harm else len(_HARMS)
    return entry.severity or "Z", harm, entry.name

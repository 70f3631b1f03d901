"""What people read about a known bug: its title, its cause, the versions of torch, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.known.corpus.workaround import Workaround, read_workaround

if TYPE_CHECKING:
    from exportdiff.known.corpus.entry import Entry, UpstreamMatch


@dataclass(frozen=True)
class KnownBug:
    """A root cause, as its entry describes it."""

    title: str
    cause: str
    """The mechanism, in one sentence."""
    affected: tuple[str, ...]
    """The tried versions of torch that have the bug."""
    unaffected: tuple[str, ...]
    """The tried versions that do not have it."""
    upstream: str | None
    """The PyTorch thread about it; empty if a search found none; None if it was not searched for."""
    workaround: Workaround | None
    """None: nobody has looked for one."""
    upstream_match: UpstreamMatch | None = None
    """What the thread has in common with the bug; None if they were not compared."""
    upstream_searched: str = ""
    """The day of the last search for a thread; empty if the day is not known."""
    defended: str = ""
    """``THREAD: REASON`` if PyTorch's maintainers have defended the behaviour; else empty."""
    id: str = ""
    """Its short name, which never changes; empty if it has none."""

    @property
    def fixed_in(self) -> tuple[str, ...]:
        """The tried versions without the bug that are newer than all tried versions with it."""
        last = max(map(_order, self.affected), default=())
        return tuple(version for version in self.unaffected if _order(version) > last)

    @property
    def not_yet_in(self) -> tuple[str, ...]:
        """The other tried versions without the bug."""
        return tuple(version for version in self.unaffected if version not in self.fixed_in)

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "cause": self.cause,
            "shows_in": list(self.affected),
            "fixed_in": list(self.fixed_in),
            "not_yet_in": list(self.not_yet_in),
            "upstream": self.upstream,
            "upstream_match": self.upstream_match,
            "upstream_searched": self.upstream_searched,
            "defended": self.defended,
        }


def _order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, which compare as the versions do."""
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])))


def known_bug(entry: Entry) -> KnownBug:
    """Describe the root cause of an entry of ``open/``."""
    return KnownBug(
        entry.title,
        " ".join(entry.cause.split()),
        entry.affected,
        entry.unaffected,
        entry.upstream,
        read_workaround(entry),
        entry.upstream_match,
        entry.upstream_searched,
        entry.defended,
        entry.id,
    )


def not_found(searched: str) -> str:
    """Say that there is no thread, and since when it was not searched for again."""
    return f"not found in the search of {searched}" if searched else "a search found none"

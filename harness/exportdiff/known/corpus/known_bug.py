"""What people read about a known bug: its title, its cause, the versions of torch, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.known.corpus.workaround import Workaround, read_workaround
from exportdiff.runtime.paths import parse
from exportdiff.runtime.paths.backends import product

if TYPE_CHECKING:
    from exportdiff.known.corpus.entry import Entry, UpstreamMatch
    from exportdiff.known.corpus.versions import Versions


@dataclass(frozen=True)
class KnownBug:
    """A root cause, as its entry describes it."""

    title: str
    cause: str
    """The mechanism, and what the function at fault should do."""
    versions: Versions
    """What its entry showed on the versions of torch on which it ran."""
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
    product: str = "torch"
    """What has the bug: ``torch``, or a backend."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "id": self.id,
            "product": self.product,
            "title": self.title,
            "cause": self.cause,
            "versions": dict(self.versions.rows),
            "shows_in": list(self.versions.on("shows")),
            "fixed_in": list(self.versions.fixed_in),
            "not_yet_in": list(self.versions.not_yet_in),
            "upstream": self.upstream,
            "upstream_match": self.upstream_match,
            "upstream_searched": self.upstream_searched,
            "defended": self.defended,
        }


def known_bug(entry: Entry) -> KnownBug:
    """Describe the root cause of an entry of ``open/``."""
    return KnownBug(
        entry.title,
        " ".join(entry.cause.split()),
        entry.versions,
        entry.upstream,
        read_workaround(entry),
        entry.upstream_match,
        entry.upstream_searched,
        entry.defended,
        entry.id,
        product(parse(entry.path).mode),
    )


def not_found(searched: str) -> str:
    """Say that there is no thread, and since when it was not searched for again."""
    return f"not found in the search of {searched}" if searched else "a search found none"

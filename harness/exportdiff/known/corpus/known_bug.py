"""What people read about a known bug: its title, its cause, the versions of torch, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportdiff.known.corpus.workaround import Workaround, read_workaround

if TYPE_CHECKING:
    from exportdiff.known.corpus.entry import Entry


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
    upstream: str
    """The PyTorch thread about it; empty if there is none."""
    workaround: Workaround | None
    """None: nobody has looked for one."""


def known_bug(entry: Entry) -> KnownBug:
    """Describe the root cause of an entry of ``open/``."""
    return KnownBug(
        entry.title,
        entry.cause,
        entry.affected,
        entry.unaffected,
        entry.upstream or "",
        read_workaround(entry),
    )

"""The summary page of ``exportdiff corpus bisect``: what is new in the newest torch that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from exportdiff.fuzzing.other_torch.bisecting import History
    from exportdiff.known.corpus.entry import Entry
    from exportdiff.known.corpus.versions import News, Versions

HEADINGS: dict[News, str] = {
    "broken": "Broken: the file can no longer tell whether the bug is there",
    "shows again": "Shows again",
    "new": "New: no earlier version that was tried has the bug",
    "fixed": "Fixed",
}


def versions_page(found: Mapping[Entry, Versions], ran: Mapping[Entry, History]) -> str:
    """Return the page as Markdown.

    ``found``: what each file shows on all versions that were ever tried. ``ran``: what it did now.
    """
    return "\n".join(_lines(found, ran)) + "\n"


def _lines(found: Mapping[Entry, Versions], ran: Mapping[Entry, History]) -> Iterator[str]:
    newest = {entry: history.rows[-1] for entry, history in ran.items()}
    torch = next(iter(newest.values())).torch
    yield f"## The corpus on torch {torch}\n"
    news = {entry: versions.up_to(torch).news for entry, versions in found.items()}
    for one, heading in HEADINGS.items():
        entries = [entry for entry, what in news.items() if what == one]
        if not entries:
            continue
        yield f"### {heading} ({len(entries)})\n"
        for entry in entries:
            line = newest[entry].line if one == "broken" else entry.title
            yield f"- `{entry.name}`: {line} ({found[entry].in_words})"
        yield ""
    unchanged = [entry for entry, what in news.items() if what is None]
    still = sum(found[entry].up_to(torch).open for entry in unchanged)
    yield f"As before: {counted(still, 'file')} with the bug, {len(unchanged) - still} without it."

"""The page of known bugs of backends in the documentation, in Markdown: one section for each backend."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.known_bug_pages import workaround_lines
from exportdiff.known.corpus.entry import BACKENDS, read_entry
from exportdiff.known.corpus.known_bug import known_bug
from exportdiff.known.corpus.ranking import root_causes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.known.corpus.entry import Entry

_CORPORA = pathlib.PurePosixPath("..", "..", "corpora")
"""From the page."""

_INTRODUCTION = """\
This page is for you if you run exported models with ONNX Runtime, ExecuTorch or torchao, and a result is \
wrong or a conversion fails.

`exportdiff check my_model.py:make --paths 'onnx:*' 'executorch:*'` says which of these bugs your model \
shows. [Known bugs](known-bugs.md) has those of torch itself, and explains the letters. The ids never \
change."""


def backend_bug_lines(corpora: pathlib.Path) -> Iterator[str]:
    """Yield the lines of the page. No backend needs to be installed."""
    yield "# Known bugs of backends\n"
    yield f"{_INTRODUCTION}\n"
    for folder in sorted((corpora / BACKENDS).iterdir()):
        entries = [cause.entry for cause in root_causes(map(read_entry, folder.glob("*.py")))]
        if not entries:
            continue
        yield f"## {folder.name}\n"
        yield from (f"- [{entry.id}](#{entry.id.lower()}) {entry.title}" for entry in entries)
        yield ""
        for entry in entries:
            yield from _section(entry)


def _section(entry: Entry) -> Iterator[str]:
    bug = known_bug(entry)
    file = entry.file
    yield f"### {entry.id}\n"
    yield f"**{entry.title}**\n"
    yield f"- {entry.severity}, {entry.harm}; {entry.reach}: {entry.reach_because}"
    yield f"- why: {bug.cause}"
    if bug.upstream:
        yield f"- thread: {bug.upstream}"
    yield f"- file: [{file.name}]({_CORPORA / BACKENDS / file.parent.name / file.name})\n"
    if bug.workaround is not None:
        yield from workaround_lines(bug.workaround)

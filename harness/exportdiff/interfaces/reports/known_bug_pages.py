"""The pages of known bugs in the documentation, in Markdown: an index, and one page for each API of torch."""

from __future__ import annotations

import pathlib
import re
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.known_bug_sheets import full_title, instead, links
from exportdiff.known.corpus.apis import APIS, Api
from exportdiff.known.corpus.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.known.catalog import BugSheet
    from exportdiff.known.corpus.workaround import Workaround

WORST = 15
"""How many bugs the index describes at its top."""
FOLDER = "known-bugs"
"""The folder of the pages of APIs, next to the index."""
_CORPORA = pathlib.PurePosixPath("..", "..", "..", "corpora")
"""From a page of an API."""

_INTRODUCTION = """\
This page is for you if your model behaves strangely after torch.export, torch.compile or a related function,
and you want to know if that is a known bug of torch. `exportdiff known dropout` searches the same bugs for a
word.

Each bug has an id that never changes, and a letter. A: everyday code, wrong without an error, or broken
without a workaround; B: occasional code, or an error that has a workaround; C: contrived code, or no result
is wrong."""


def page_name(api: Api) -> str:
    """Return the name of the page of an API, from the folder of the index."""
    return f"{FOLDER}/{api.name}.md"


def index_lines(sheets: Sequence[BugSheet]) -> Iterator[str]:
    """Yield the lines of the index: the worst bugs, then all by API, then all by what people write."""
    yield "# Known bugs of torch\n"
    yield f"{_joined(_INTRODUCTION)}\n"
    yield "## The worst\n"
    yield from worst_table([sheet for sheet in sheets if sheet.open][:WORST])
    yield ""
    yield "## By API\n"
    for api in APIS:
        number = sum(sheet.api is api for sheet in sheets)
        yield f"- [{api.title}]({page_name(api)}): {number}"
    yield ""
    yield "## By what you write\n"
    for topic, title in TOPICS.items():
        if own := [sheet for sheet in sheets if topic in sheet.entry.topics]:
            yield f"### {title}\n"
            yield from (_item(sheet) for sheet in own)
            yield ""


def worst_table(sheets: Sequence[BugSheet]) -> Iterator[str]:
    """Yield a table of bugs, with links that work in the index."""
    yield "| id | what is wrong | harm | who meets it |"
    yield "| --- | --- | --- | --- |"
    for sheet in sheets:
        entry = sheet.entry
        title = f"[{entry.title}]({_link(sheet)})"
        yield f"| {entry.id} | {title} | {entry.harm} | {entry.reach_because} |"


def api_lines(api: Api, sheets: Sequence[BugSheet]) -> Iterator[str]:
    """Yield the lines of the page of an API."""
    yield f"# Known bugs: {api.title}\n"
    yield "For everyone who searches for a bug. [Known bugs](../known-bugs.md) explains the letters.\n"
    own = [sheet for sheet in sheets if sheet.api is api]
    yield from (f"- [{sheet.entry.id}](#{_anchor(sheet)}) {full_title(sheet)}" for sheet in own)
    yield ""
    for sheet in own:
        yield from _section(sheet)


def _section(sheet: BugSheet) -> Iterator[str]:
    entry, bug = sheet.entry, sheet.bug
    yield f"## {entry.id}\n"
    yield f"**{entry.title}**\n"
    yield f"- {entry.severity}, {entry.harm}; {entry.reach}: {entry.reach_because}"
    if versions := bug.versions.in_words:
        yield f"- versions: {versions}"
    yield f"- why: {bug.cause}"
    yield from (f"- {name}: {_linked(target)}" for name, target in links(sheet))
    yield ""
    # Blocks of "python" are run by the tests of the documents; each of these programs is run as an entry.
    yield f"```py\n{sheet.program}\n```\n"
    if bug.workaround is not None:
        yield from workaround_lines(bug.workaround)


def workaround_lines(workaround: Workaround) -> Iterator[str]:
    """Yield what to write instead, with the changed or new lines as a block."""
    first, *indented = instead(workaround).splitlines()
    yield f"{first[0].upper()}{first[1:]}\n"
    code = [line.removeprefix("    ") for line in indented]
    if code:
        language = "diff" if any(line[:1] in "-+" for line in code) else "py"
        yield "\n".join([f"```{language}", *code, "```\n"])


def _linked(target: str | pathlib.Path) -> str:
    if isinstance(target, str):
        return target
    return f"[{target.name}]({_CORPORA / target.parent.name / target.name})"


def _item(sheet: BugSheet) -> str:
    return f"- [{sheet.entry.id}]({_link(sheet)}) {full_title(sheet)}"


def _link(sheet: BugSheet) -> str:
    return f"{page_name(sheet.api)}#{_anchor(sheet)}"


def _anchor(sheet: BugSheet) -> str:
    return sheet.entry.id.lower()


def _joined(text: str) -> str:
    """Join the lines of each paragraph."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)

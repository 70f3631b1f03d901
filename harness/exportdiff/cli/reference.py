"""The pages of docs/reference that are made from the tables of the code.

``python -m exportdiff.cli.reference`` writes all of them; a test compares them with the tables.
"""

from __future__ import annotations

import argparse
import inspect
import pathlib
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from exportdiff.cli import make_parser, subcommands
from exportdiff.cli.exit_codes import ALL_COMMANDS, EACH_COMMAND
from exportdiff.fuzzing.campaign.events import JSON_KEYS, Event, event_name
from exportdiff.fuzzing.campaign.schedule import share
from exportdiff.interfaces import schemas
from exportdiff.interfaces.checking.default_paths import BY_DEFAULT
from exportdiff.interfaces.reports.backend_bug_page import backend_bug_lines
from exportdiff.interfaces.reports.folder import Folder
from exportdiff.interfaces.reports.known_bug_pages import api_lines, index_lines, page_name
from exportdiff.judging.checks import CHECKS
from exportdiff.judging.checks.alive import ALIVE
from exportdiff.judging.exemptions.limits import LIMITS
from exportdiff.judging.exemptions.refusals import REFUSALS
from exportdiff.known.catalog import BugSheet, read_sheets
from exportdiff.known.corpus.apis import APIS, Api
from exportdiff.known.corpus.entry import default_corpora
from exportdiff.runtime.paths import EXPENSIVE, all_paths, cost, promise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FOLDER = pathlib.Path("docs", "reference")
NOTE = "This page is made from the code and the corpus by `python -m exportdiff.cli.reference`."


def page(name: str) -> str:
    """Return the text of a page, such as ``commands.md``."""
    return "\n".join([*PAGES[name](), NOTE]) + "\n"


def write_pages(folder: pathlib.Path = FOLDER) -> None:
    """Write all pages; missing folders are created."""
    for name in PAGES:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(name), encoding="utf-8")


def commands() -> Iterator[str]:
    """Yield the lines of the page about commands and their arguments."""
    yield from _title("Commands", "For everyone who runs `exportdiff` and looks for an option.")
    for words, parser in subcommands(make_parser()):
        yield f"## exportdiff {words}\n"
        if parser.description:
            yield f"{parser.description}\n"
        actions = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
        if actions:
            yield from _table(("argument", "meaning"), ((_code(_argument(a)), _meaning(a)) for a in actions))


def paths() -> Iterator[str]:
    """Yield the lines of the page about paths."""
    yield from _title(
        "Paths",
        "For everyone who reads a path in a report, or chooses paths with `--paths`.",
        "A path is one way to run a model: how it is captured, what is done with the result (after `+`), and "
        "what runs (after `:`). A finding names it with the device: `nonstrict+reload:module@cpu` exports, "
        "saves, loads, and runs `ep.module()` on the CPU. Each path has a promise; a path that does not keep "
        "its promise is a finding. The cost is the time for a model of the usual size. A campaign runs a "
        f"path on one program in as many as the last column says, and paths of {EXPENSIVE / 1000:g} s or "
        "more only if `--paths` names them. Paths that are not listed can be written out, as in "
        "`strict+reload:module`.",
        f"`check`, `compare` and the pytest plugin judge the {len(BY_DEFAULT)} paths with *yes* by default: "
        "those that export, need no compiler, and show a bug of everyday or occasional code. Four are left "
        "out on which every nn.Sequential fails, because its argument is called `input`.",
    )
    rows = (
        (
            _code(each.without_device),
            promise(each),
            "yes" if each.without_device in BY_DEFAULT else "",
            f"{cost(each):g}",
            _share(cost(each), share(each)),
        )
        for each in all_paths()
    )
    yield from _table(("path", "promise", "by default", "cost in ms", "one program in"), rows)


def _share(cost: float, every: int) -> str:
    return "on request" if cost >= EXPENSIVE else str(every)


def checks() -> Iterator[str]:
    """Yield the lines of the page about checks."""
    yield from _title(
        "Checks",
        "For everyone who reads a finding, and wants to know what was compared.",
        "A check compares what eager did with what a path did. A finding names the check that found it; "
        "other differences that follow from it are listed below the finding.",
    )
    rows = ((_code(name), _first_line(check)) for name, check in CHECKS.items())
    alive = (_code(ALIVE), "Compare whether the process survives: the path ended it, or never ended itself.")
    yield from _table(("check", "what it does"), (*rows, alive))


def limits() -> Iterator[str]:
    """Yield the lines of the page about documented limits and refusals."""
    yield from _title(
        "Documented limits and refusals",
        "For everyone who misses a finding, or sees `(documented)` or `refused` next to a path.",
        "What torch documents is no bug. A documented limit excuses one kind of difference; the report shows "
        "its name next to the path. A documented refusal is an exception that torch raises on purpose, with "
        "a message for the author of the model; the path is then *refused*. Any other exception "
        "is a finding.",
    )
    yield "## Limits\n"
    yield from _table(
        ("limit", "what is given up", "where torch says so"),
        ((_code(each.name), each.says, each.documented) for each in LIMITS),
    )
    yield "## Refusals\n"
    yield from _table(
        ("refusal", "stage", "exception", "where torch says so"),
        ((_code(each.name), each.stage, _code(each.type), each.documented) for each in REFUSALS),
    )


def exit_codes() -> Iterator[str]:
    """Yield the lines of the page about exit codes."""
    yield from _title(
        "Exit codes",
        "For everyone who runs `exportdiff` in a script or in CI.",
        "All commands use the same codes.",
    )
    yield from _table(("code", "meaning"), ((str(code), meaning) for code, meaning in ALL_COMMANDS.items()))
    yield "What 0, 1 and 2 mean for each command:\n"
    yield from _table(
        ("command", "0", "1", "2"),
        ((_code(name), *(codes.get(code, "") for code in (0, 1, 2))) for name, codes in EACH_COMMAND.items()),
    )


def files() -> Iterator[str]:
    """Yield the lines of the page about the files that commands read and write."""
    yield from _title("Files", "For everyone who reads the files of exportdiff with a program.")
    yield "## The folder of a campaign\n"
    folder = Folder(pathlib.Path())
    yield from _table(
        ("name", "content"),
        (
            (_code(str(getattr(folder, name))), _first_line(prop))
            for name, prop in vars(Folder).items()
            if isinstance(prop, property)
        ),
    )
    yield "## Events\n"
    yield "Each line of `events.ndjson` is one of these events. `at`: the seconds since the campaign began.\n"
    events = (
        (
            _code(event_name(kind)),
            _first_line(kind),
            ", ".join(_code(JSON_KEYS.get(name, name)) for name in kind.__annotations__),
        )
        for kind in Event.__subclasses__()
    )
    yield from _table(("event", "when", "fields"), events)


def documents() -> Iterator[str]:
    """Yield the lines of the page about JSON documents, from their schemas."""
    yield from _title(
        "JSON documents",
        "This page is for you if a program of yours reads what exportdiff writes. Keys may be added. If a "
        "key is renamed or removed, `format` gets another number.",
        "Each document has a [JSON Schema](https://json-schema.org), which is installed with exportdiff, in "
        "`interfaces/schemas/`.",
    )
    for name in ("check-1", "judge-1", "summary-1", "baseline-2", "finding-1"):
        file = schemas.FOLDER / f"{name}{schemas.SUFFIX}"
        described = schemas.schema(name)
        link = f"../../harness/exportdiff/interfaces/schemas/{file.name}"
        yield f"## {described['title']}\n"
        yield f"{described['description']} Schema: [{file.name}]({link}).\n"
        yield from _table(("key", "content"), _keys(described, described.get("$defs", {})))


def _keys(described: Any, definitions: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a schema, with those of the objects inside it."""
    for key, each in described.get("properties", {}).items():
        text = each.get("description", "")
        if choices := [_code(str(choice)) for choice in each.get("enum", ()) if choice]:
            text = f"{text}: {', '.join(choices)}"
        inner = each.get("items", each.get("additionalProperties", each))
        reference = inner.get("$ref", "") if isinstance(inner, dict) else ""
        inner = definitions.get(reference.rpartition("/")[2], inner)
        if isinstance(inner, dict) and "allOf" in inner:
            text = f"{text}; each has the keys of [a finding](#a-finding) as well"
        if text:
            yield _code(f"{prefix}{key}"), text
        if isinstance(inner, dict):
            yield from _keys(inner, definitions, f"{prefix}{key}.")


def known_bugs() -> Iterator[str]:
    """Yield the lines of the index of known bugs, from the corpus."""
    yield from index_lines(_sheets())


def known_bugs_of(api: Api) -> Iterator[str]:
    """Yield the lines of the page of known bugs of an API."""
    yield from api_lines(api, _sheets())


def backend_bugs() -> Iterator[str]:
    """Yield the lines of the page of known bugs of backends, from the corpus."""
    corpora = default_corpora()
    yield from backend_bug_lines(corpora) if corpora is not None else ()


@cache
def _sheets() -> tuple[BugSheet, ...]:
    """Return the bugs of torch; those of backends have a page of their own."""
    corpora = default_corpora()
    sheets = read_sheets(corpora) if corpora is not None else ()
    return tuple(sheet for sheet in sheets if sheet.bug.product == "torch")


PAGES: dict[str, Callable[[], Iterable[str]]] = {
    "commands.md": commands,
    "paths.md": paths,
    "checks.md": checks,
    "limits.md": limits,
    "exit-codes.md": exit_codes,
    "files.md": files,
    "json.md": documents,
    "known-bugs.md": known_bugs,
    "known-bugs-of-backends.md": backend_bugs,
    **{page_name(api): partial(known_bugs_of, api) for api in APIS},
}
"""The pages by file name, each with the function that makes its lines."""


def _title(title: str, *paragraphs: str) -> Iterator[str]:
    yield f"# {title}\n"
    yield from (f"{text}\n" for text in paragraphs)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _code(text: str) -> str:
    return f"`{text}`"


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n\n")[0]


def _argument(action: argparse.Action) -> str:
    """Return how an argument is written: ``--seed S``."""
    if action.metavar:
        value = str(action.metavar)
    elif action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = action.dest.upper()
    if action.nargs in ("*", "+"):
        value += " ..."
    if not action.option_strings:
        return value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def _meaning(action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": "exportdiff"}


if __name__ == "__main__":
    write_pages()

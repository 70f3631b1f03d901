"""The table as Markdown: one row a model, one column a path, one footnote a root cause."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

from exportdiff.interfaces.wording import counted
from exportdiff.known.corpus.entry import FIXES, read_entry
from exportdiff.lab.zoo.notes import NOTES
from exportdiff.lab.zoo.record import MARKDOWN
from exportdiff.lab.zoo.sources import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.lab.zoo.record import RecordedTable
    from exportdiff.lab.zoo.row import Cell, ModelRow

UNEXPLAINED = "unexplained"
"""The name of the footnote of findings without an explanation."""

_INTRODUCTION = """\
<!-- Written by `exportdiff zoo --write`; do not edit it. -->
# Real models, eager against exported

Each model runs eagerly and along the paths that people deploy; a cell says what the comparison found. The
models are small and have random weights; nothing is downloaded. `exportdiff zoo` judges them again, and
prints what is not as it is recorded here.

A table lists the models that show something; the others follow it.

- `ok`: no difference. `ok*`: only a difference that torch documents.
- `refused`: torch.export says in words that it does not take this model.
- Anything else is a finding: the check that saw it, and its kind. The footnote names the cause.
"""


def markdown(record: RecordedTable, corpora: pathlib.Path) -> str:
    """Return the whole document. ``corpora``: where the entries are that the footnotes link to."""
    versions = ", ".join(f"{name} {number}" for name, number in record.versions.items())
    parts = [_INTRODUCTION, f"Made with {versions}.\n", *_summary(record.rows), *_documentation(record.rows)]
    for source in SOURCES:
        rows = [row for row in record.rows if row.model.startswith(f"{source.name}/")]
        if rows:
            parts += [f"\n## {source.title}\n", *_table(rows, source.paths)]
    return "\n".join((*parts, *_not_judged(record.rows), *_footnotes(record.rows, corpora))) + "\n"


def _summary(rows: Sequence[ModelRow]) -> Iterator[str]:
    yield "| source | models | not judged | all paths ok | refused on a path | with a finding | unexplained |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for source in SOURCES:
        own = [row for row in rows if row.model.startswith(f"{source.name}/")]
        statuses = [{cell.status for cell in row.cells.values()} for row in own]
        counts = (
            len(own),
            sum(bool(row.not_judged) for row in own),
            sum(each == {"ok"} for each in statuses),
            sum("refused" in each for each in statuses),
            sum("finding" in each for each in statuses),
            sum(row.unexplained for row in own),
        )
        yield f"| {source.name} | {' | '.join(map(str, counts))} |"


def _table(rows: Sequence[ModelRow], paths: Sequence[str]) -> Iterator[str]:
    shown = [row for row in rows if row.cells and not row.agrees]
    if shown:
        paths = [path for path in paths if any(path in row.cells for row in rows)]
        yield "| model | " + " | ".join(f"`{path}`" for path in paths) + " |"
        yield "| --- |" + " --- |" * len(paths)
        for row in shown:
            yield f"| {_name(row)} | {' | '.join(_cell(row.cells.get(path)) for path in paths)} |"
    fine = [_name(row) for row in rows if row.agrees]
    if fine:
        yield f"\nAll paths are `ok` on {counted(len(fine), 'model')}: {', '.join(fine)}."


def _name(row: ModelRow) -> str:
    return row.model.partition("/")[2]


def _documentation(rows: Sequence[ModelRow]) -> Iterator[str]:
    """Yield how many examples of the documentation run, and how many of those were judged."""
    own = [row for row in rows if row.model.startswith("docs/")]
    runs = [row for row in own if row.no_model != "raises in eager"]
    judged = sum(row.judged for row in runs)
    if runs:
        yield (
            f"\nThe table has {len(own)} examples of docstrings. {len(runs)} of them run in eager, and "
            f"{judged} of those ({100 * judged // len(runs)} %) were judged."
        )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "–"  # noqa: RUF001  # a dash, as tables have it
    if cell.status == "ok":
        return "ok*" if cell.excused else "ok"
    if cell.status == "refused":
        return f"refused: {cell.reason}"
    return "<br>".join(
        f"{shown.check} {shown.kind}{''.join(f'[^{name}]' for name in shown.causes or (UNEXPLAINED,))}"
        for shown in cell.findings
    )


def _not_judged(rows: Sequence[ModelRow]) -> Iterator[str]:
    left_out = [row for row in rows if row.not_judged]
    if left_out:
        yield "\n## Not judged\n"
        yield from (f"- {row.model}: {row.not_judged}" for row in left_out)


def _footnotes(rows: Sequence[ModelRow], corpora: pathlib.Path) -> Iterator[str]:
    shown = [each for row in rows for cell in row.cells.values() for each in cell.findings]
    yield ""
    for name in sorted({cause for each in shown for cause in each.causes}):
        entries = {entry for each in shown if name in each.causes for entry in each.entries}
        yield f"[^{name}]: {_cause(name, sorted(entries), corpora)}"
    if any(not each.causes for each in shown):
        yield f"[^{UNEXPLAINED}]: The cause is not known yet."


def _cause(name: str, entries: Sequence[str], corpora: pathlib.Path) -> str:
    note = next((note for note in NOTES if note.name == name), None)
    if note is not None:
        return note.text
    files = (read_entry(corpora / "open" / f"{entry}.py") for entry in entries)
    own = [entry for entry in files if not entry.problem and name in (entry.fix, entry.file.stem)]
    texts = [f"{entry.title} ({_link(entry.file)})" for entry in own] or [name]
    patch = corpora / FIXES / f"{name}.patch"
    return "; ".join((*texts, *((f"mended by {_link(patch)}",) if patch.is_file() else ())))


def _link(file: pathlib.Path) -> str:
    return f"[{file.name}]({pathlib.Path(os.path.relpath(file, MARKDOWN.parent)).as_posix()})"

"""The recorded table: reading and writing the files next to this module."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version

from exportdiff.core.errors import UsageError
from exportdiff.lab.zoo.row import ModelRow
from exportdiff.lab.zoo.sources import SOURCES, source_of

HERE = pathlib.Path(__file__).parent
JSON = HERE / "recorded.json"
MARKDOWN = HERE / "README.md"

SOURCE_NAMES = tuple(source.name for source in SOURCES)

VERSIONED = ("torch", "transformers", "executorch", "onnx", "onnxruntime")
"""The packages on whose versions the table depends."""


@dataclass(frozen=True)
class RecordedTable:
    """A table of rows, and the versions that it was made with."""

    versions: dict[str, str]
    rows: tuple[ModelRow, ...]

    def merged(self, fresh: Sequence[ModelRow], listed: Mapping[str, Sequence[str]]) -> tuple[ModelRow, ...]:
        """Return the rows with those judged now in the place of the old ones.

        A row keeps the cells of paths whose backend is not installed here. ``listed``: the names of all
        models by source, for the sources that were listed now. A model that its source no longer has is left
        out; the rows of other sources stay as they are.
        """
        rows = {row.model: row for row in self.rows}
        rows |= {row.model: with_cells_of_others(row, rows.get(row.model)) for row in fresh}
        names: list[str] = []
        for source in dict.fromkeys((*SOURCE_NAMES, *listed)):
            old = (row.model for row in self.rows if row.model.startswith(f"{source}/"))
            names += listed.get(source, tuple(old))
        return tuple(rows[name] for name in names if name in rows)


def with_cells_of_others(fresh: ModelRow, before: ModelRow | None) -> ModelRow:
    """Return the row with the recorded cells of the paths that cannot run here."""
    if before is None or fresh.not_judged:
        return fresh
    paths = source_of(fresh.model).paths
    kept = set(paths) - set(source_of(fresh.model).usable_paths)
    cells = {**{path: before.cells[path] for path in kept & before.cells.keys()}, **fresh.cells}
    return replace(fresh, cells={path: cells[path] for path in (*paths, *cells) if path in cells})


def read(file: pathlib.Path) -> RecordedTable:
    """Read the recorded table; an empty one if there is none. Raises UsageError if it cannot be read."""
    if not file.is_file():
        return RecordedTable({}, ())
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return RecordedTable(dict(document["versions"]), tuple(map(ModelRow.from_dict, document["rows"])))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no table of the zoo ({error!r}); write it again with --write") from None


def write(record: RecordedTable, file: pathlib.Path) -> None:
    """Write the table as JSON, one row a line."""
    versions = json.dumps(record.versions)
    rows = ",\n".join(json.dumps(row.as_dict(), ensure_ascii=False) for row in record.rows)
    file.write_text(f'{{"versions": {versions}, "rows": [\n{rows}\n]}}\n', encoding="utf-8")


def installed() -> dict[str, str]:
    """Return the versions of this environment; a package that is not there is left out."""
    found: dict[str, str] = {}
    for name in VERSIONED:
        try:
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    return found

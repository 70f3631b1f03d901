"""What differs between two rows of one model, in lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.lab.zoo.row import Cell, ModelRow


def differences(recorded: Sequence[ModelRow], fresh: Sequence[ModelRow]) -> Iterator[str]:
    """Yield a line for each cell that is not as recorded. ``recorded``: the rows of the same models."""
    before = {row.model: row for row in recorded}
    for row in fresh:
        if row.model in before:
            yield from _of_row(before[row.model], row)
        else:
            yield f"{row.model}: not recorded yet; now: {_all(row)}"
    for name in sorted(before.keys() - {row.model for row in fresh}):
        yield f"{name}: recorded: {_all(before[name])}; now: there is no such model"


def described(cell: Cell | None) -> str:
    """Return what a cell shows, in a line."""
    if cell is None:
        return "nothing"
    if cell.status == "finding":
        return "; ".join(
            f"{shown.check} {shown.kind} ({', '.join(shown.causes) or 'unexplained'})"
            for shown in cell.findings
        )
    return f"{cell.status} ({cell.reason})" if cell.reason else cell.status


def _of_row(before: ModelRow, after: ModelRow) -> Iterator[str]:
    if before.not_judged != after.not_judged:
        yield f"{after.model}: recorded: {_all(before)}; now: {_all(after)}"
        return
    for path in dict.fromkeys((*before.cells, *after.cells)):
        old, new = before.cells.get(path), after.cells.get(path)
        if old != new:
            yield f"{after.model} {path}: recorded: {described(old)}; now: {described(new)}"


def _all(row: ModelRow) -> str:
    if row.not_judged:
        return f"not judged ({row.not_judged})"
    return (
        ", ".join(f"{path} {described(cell)}" for path, cell in row.cells.items() if cell.status != "ok")
        or "ok"
    )

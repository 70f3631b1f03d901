"""A row of the table: what one model shows on each path. Plain data, with its form in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

CellStatus = Literal["ok", "refused", "finding"]


@dataclass(frozen=True)
class ShownFinding:
    """One finding, as one path shows it."""

    check: str
    kind: str
    stage: str
    signature: tuple[str, ...]
    causes: tuple[str, ...] = ()
    """The names of the root causes: of fixes or entries of the corpus, or of notes of the zoo. Empty: it is
    not explained."""
    entries: tuple[str, ...] = ()
    """The entries of the corpus that show these causes as the finding does."""


@dataclass(frozen=True)
class Cell:
    """What one model shows on one path."""

    status: CellStatus
    reason: str = ""
    """The name of the documented refusal; how a process died."""
    excused: tuple[str, ...] = ()
    """The names of the documented limits that differences fall under."""
    findings: tuple[ShownFinding, ...] = ()

    @property
    def unexplained(self) -> bool:
        """Whether it shows a finding without an explanation."""
        return any(not shown.causes for shown in self.findings)


@dataclass(frozen=True)
class ModelRow:
    """What one model shows."""

    model: str
    cells: Mapping[str, Cell] = field(default_factory=dict)
    """By path, written without a device."""
    not_judged: str = ""
    """Why there is no verdict, in a line; then there are no cells."""
    no_model: str = ""
    """If that is the reason: one of NoModelReason."""

    @property
    def judged(self) -> bool:
        """Whether a path was compared with eager."""
        return any(cell.status != "refused" for cell in self.cells.values())

    @property
    def agrees(self) -> bool:
        """Whether all paths agree, without a documented limit."""
        return bool(self.cells) and all(cell == Cell("ok") for cell in self.cells.values())

    @property
    def unexplained(self) -> bool:
        """Whether a cell shows a finding without an explanation."""
        return any(cell.unexplained for cell in self.cells.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the row ready for JSON."""
        if self.not_judged:
            return _short({"model": self.model, "not_judged": self.not_judged, "no_model": self.no_model})
        return {
            "model": self.model,
            "cells": {path: _short(asdict(cell)) for path, cell in self.cells.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ModelRow:
        """Undo ``as_dict``. Raises KeyError or TypeError where the document is no row."""
        cells = {path: _cell(cell) for path, cell in document.get("cells", {}).items()}
        return cls(document["model"], cells, document.get("not_judged", ""), document.get("no_model", ""))


def _short(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is empty: most cells are ``ok``, and people read the differences of this file."""
    return {key: value for key, value in document.items() if value}


def _cell(document: Mapping[str, Any]) -> Cell:
    findings = tuple(_shown(each) for each in document.get("findings", ()))
    excused = tuple(document.get("excused", ()))
    return Cell(document["status"], document.get("reason", ""), excused, findings)


def _shown(document: Mapping[str, Any]) -> ShownFinding:
    return ShownFinding(
        document["check"],
        document["kind"],
        document["stage"],
        tuple(document["signature"]),
        tuple(document["causes"]),
        tuple(document["entries"]),
    )

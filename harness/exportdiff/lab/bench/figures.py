"""What a measurement returns: figures for people, rows for a table, data for the JSON document."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")

RESAMPLES = 200


@dataclass(frozen=True)
class Figure:
    """One number: a ratio or a count of one run on one machine."""

    name: str
    value: float | None
    """None: not measured; ``note`` says why."""
    unit: str = ""
    wanted: str = ""
    """What the number should be, such as ``<= 1.5``; empty: there is no target."""
    spread: tuple[float, float] | None = None
    """Nine of ten resamples of the programs give a number in this range."""
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the figure ready for JSON."""
        return {
            "name": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "wanted": self.wanted,
            "spread": None if self.spread is None else [_rounded(each) for each in self.spread],
            "note": self.note,
        }

    @property
    def text(self) -> str:
        """Return the number with its unit and spread: ``1.21 x (1.15-1.28)``."""
        if self.value is None:
            return "-"
        shown = f"{_short(self.value)} {self.unit}".rstrip()
        if self.spread is None:
            return shown
        return f"{shown} ({'-'.join(map(_short, self.spread))})"


@dataclass(frozen=True)
class Rows:
    """A table to print below the figures; the JSON document has it as well."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Result:
    """All that one measurement found."""

    figures: tuple[Figure, ...]
    tables: tuple[Rows, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    """For the JSON document only."""
    interrupted: bool = False
    """Whether Ctrl-C or SIGTERM ended the measurement; the figures are of what was measured until then."""
    exit_code: int = 0
    """What the command returns for it; a measurement without findings always returns 0."""


def spread(sample: Sequence[T], figure: Callable[[Sequence[T]], float]) -> tuple[float, float] | None:
    """Return the range of nine of ten resamples of ``sample``; None for fewer than five elements."""
    if len(sample) < 5:
        return None
    chance = random.Random(0)
    values = sorted(figure(chance.choices(sample, k=len(sample))) for _ in range(RESAMPLES))
    return values[RESAMPLES // 20], values[-RESAMPLES // 20 - 1]


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _short(value: float) -> str:
    """Return three significant digits, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"

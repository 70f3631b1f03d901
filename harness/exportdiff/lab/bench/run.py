"""Runs the measurements one after the other, and collects them in one document."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exportdiff.core.errors import UsageError
from exportdiff.lab.bench.figures import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.bench.registry import Measurement


@dataclass(frozen=True)
class Measured:
    """One measurement that ran."""

    measurement: Measurement
    result: Result
    seconds: float
    error: str = ""
    """The traceback, if exportdiff itself failed."""


def measure_all(measurements: Sequence[Measurement], context: Context) -> Iterator[Measured]:
    """Measure; a measurement that fails does not stop the others, one that is interrupted is the last."""
    for each in measurements:
        since = time.monotonic()
        try:
            result, error = each.measure(context), ""
        except KeyboardInterrupt:
            result, error = Result((), interrupted=True), ""
        except UsageError:
            raise
        except Exception:
            result, error = Result(()), traceback.format_exc()
        yield Measured(each, result, time.monotonic() - since, error)
        if result.interrupted:
            return


def document(measured: Sequence[Measured], context: Context, machine: dict[str, Any]) -> dict[str, Any]:
    """Return everything, ready for JSON."""
    return {
        **machine,
        "scale": context.scale.name,
        "workers": context.workers,
        "seed": context.seed,
        "seconds": round(sum(each.seconds for each in measured), 1),
        "measurements": {each.measurement.name: _entry(each) for each in measured},
    }


def _entry(measured: Measured) -> dict[str, Any]:
    result = measured.result
    return {
        "question": measured.measurement.question,
        "seconds": round(measured.seconds, 1),
        "figures": [figure.as_dict() for figure in result.figures],
        "tables": {
            rows.title: [dict(zip(rows.header, row, strict=True)) for row in rows.rows]
            for rows in result.tables
        },
        "data": result.data,
        "interrupted": result.interrupted,
        "error": measured.error,
    }

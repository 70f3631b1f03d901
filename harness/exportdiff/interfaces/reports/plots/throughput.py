"""Programs per second over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.plots.theme import ACCENT, SAYS, SOFT, Spec, plot, quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

UNITS = ((7200.0, 3600.0, "hours"), (300.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
"""For campaigns of at least this many seconds: the seconds of the unit of time, and its name."""


def throughput(rates: Sequence[tuple[float, float]], average: float, width: int) -> Spec:
    """Return the plot: a line over the windows, and the average as a thin line."""
    last = rates[-1][0] if rates else 0.0
    _, unit, name = next(each for each in UNITS if last >= each[0])
    window = rates[1][0] - rates[0][0] if len(rates) > 1 else 0.0
    rows = [
        {
            "time": (start + window / 2) / unit,
            "rate": rate,
            "says": f"{rate:.1f} programs per second after {start / unit:.1f} {name}",
        }
        for start, rate in rates
    ]
    x = quantity("time", f"{name} since the start", axis={"tickCount": 6, "grid": False})
    y = quantity("rate", None, axis={"tickCount": 3, "domain": False}, scale={"zero": True})
    return plot(
        width,
        130,
        rows,
        layer=[
            {
                "mark": {"type": "area", "color": ACCENT, "opacity": 0.12, "interpolate": "monotone"},
                "encoding": {"x": x, "y": y},
            },
            {
                "mark": {"type": "line", "color": ACCENT, "strokeWidth": 2, "interpolate": "monotone"},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": [{"rate": average}]},
                "mark": {"type": "rule", "color": SOFT, "strokeDash": [2, 3]},
                "encoding": {"y": y},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 0, "size": 120},
                "encoding": {"x": x, "y": y, "description": SAYS},
            },
        ],
    )

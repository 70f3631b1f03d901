"""Horizontal bars, each with a number at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exportdiff.interfaces.reports.plots.theme import (
    ACCENT,
    CATEGORIES,
    INK,
    SAYS,
    SOFT,
    Spec,
    category,
    plot,
    quantity,
)

HEIGHT = 24
"""Pixels of a bar, including the space to the next one."""


@dataclass(frozen=True)
class Bar:
    """One bar, or a part of one."""

    name: str
    number: float
    says: str
    part: str = ""
    """Parts of the same name are drawn in one row, each in its colour."""
    label: str = ""
    """The text at the end of the bar; of a bar with parts, that of the last part."""
    before: float | None = None
    """The number in the campaign before, drawn as a thin line across the bar."""


def bars(rows: Sequence[Bar], width: int, names: int, columns: int = 3) -> Spec:
    """Return the plot of at least one row.

    ``width``, ``names``: pixels of the plot, and of the names in it. ``columns``: columns of the legend.
    """
    values = [vars(row) for row in rows]
    parts = sorted({row.part for row in rows})
    totals: dict[str, Spec] = {}
    for row in rows:
        total = totals.setdefault(row.name, {"name": row.name, "number": 0.0, "label": ""})
        total["number"] += row.number
        before = row.before or 0.0
        # The label is to the right of the bar, or of the thin line if that is close.
        close = total["number"] <= before < 1.3 * total["number"]
        total["place"] = before if close else total["number"]
        total["label"] = row.label or total["label"]
    most = max([*(total["number"] for total in totals.values()), *(row.before or 0.0 for row in rows)])
    y = category("name", axis={"labelLimit": names, "domain": False, "labelColor": INK})
    scale = {"domain": [0, 1.18 * most]}
    x = quantity("number", None, axis=None, stack="zero", scale=scale)
    color: Spec = {"value": ACCENT}
    if len(parts) > 1:
        legend = {"orient": "bottom", "symbolType": "square", "labelColor": SOFT, "columns": columns}
        color = category("part", scale={"domain": parts, "range": CATEGORIES[: len(parts)]}, legend=legend)
    layers = [
        {
            "mark": {"type": "bar", "cornerRadius": 2, "height": {"band": 0.62}},
            "encoding": {"x": x, "y": y, "color": color, "description": SAYS, "order": {"field": "part"}},
        },
        {
            "data": {"values": list(totals.values())},
            "mark": {"type": "text", "align": "left", "dx": 5, "color": SOFT},
            "encoding": {
                "x": quantity("place", None, axis=None, scale=scale),
                "y": y,
                "text": {"field": "label", "type": "nominal"},
            },
        },
    ]
    ticks = [{"name": row.name, "number": row.before} for row in rows if row.before is not None]
    if ticks:
        layers.append(
            {
                "data": {"values": ticks},
                "mark": {"type": "tick", "color": INK, "thickness": 2, "size": 18},
                "encoding": {"x": quantity("number", None, axis=None, scale=scale), "y": y},
            }
        )
    return plot(width, HEIGHT * len(totals), values, layer=layers)

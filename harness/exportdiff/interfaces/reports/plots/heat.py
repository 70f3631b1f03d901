"""Tags by path: how many programs with a tag ran on a path, and how many show a finding there."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.plots.theme import BAD, FAINT, SAYS, SOFT, Spec, category, plot, quantity

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.timeline import Timeline

CELL = 17
"""Pixels."""


def heat(timeline: Timeline, rows: int, columns: int, width: int, angle: int) -> Spec | None:
    """Return the plot of the tags and paths with most findings; None: no path ran.

    A stronger colour means more programs; a larger circle means more findings. ``angle``: the angle of the
    paths' names, in degrees.
    """
    tags, paths = shown(timeline, rows, columns)
    cells: list[Spec] = []
    for path in paths:
        short = path.partition("@")[0]
        for tag in tags:
            runs, bad = timeline.runs[path][tag], timeline.findings[path][tag]
            says = f"{tag} on {short}: {runs:,} programs, {bad:,} with a finding"
            if runs:
                cells.append({"tag": tag, "path": short, "runs": runs, "findings": bad, "says": says})
    if not cells:
        return None
    most = max(1, *(cell["findings"] for cell in cells))
    x = category("path", axis={"orient": "top", "labelAngle": angle, "labelLimit": 230, "domain": False})
    y = category("tag", axis={"labelLimit": 200, "domain": False})
    return plot(
        width,
        CELL * len(tags),
        cells,
        layer=[
            {
                "mark": {"type": "rect", "color": FAINT, "cornerRadius": 2, "stroke": "var(--card)"},
                "encoding": {
                    "x": x,
                    "y": y,
                    "description": SAYS,
                    "fillOpacity": quantity(
                        "runs",
                        None,
                        scale={"type": "symlog", "constant": 1, "range": [0.06, 1]},
                        legend=None,
                    ),
                },
            },
            {
                "transform": [{"filter": "datum.findings > 0"}],
                "mark": {"type": "circle", "color": BAD, "opacity": 0.9, "stroke": None},
                "encoding": {
                    "x": x,
                    "y": y,
                    "description": SAYS,
                    "size": quantity(
                        "findings",
                        "findings",
                        scale={"type": "sqrt", "range": [10, 170]},
                        legend=_legend(most),
                    ),
                },
            },
        ],
    )


def _legend(most: int) -> Spec:
    return {
        "orient": "bottom",
        "values": sorted({1, (1 + most) // 2, most}),
        "symbolFillColor": BAD,
        "symbolStrokeColor": BAD,
        "titleColor": SOFT,
        "titleFontWeight": "normal",
        "format": "d",
    }


def shown(timeline: Timeline, rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Return the tags and paths with most findings first; of equal ones, those with most programs."""
    tags: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for path, counts in timeline.runs.items():
        tags.update(counts)
        found.update(timeline.findings[path])
    paths = sorted(
        timeline.runs,
        key=lambda path: (
            -max(timeline.findings[path].values(), default=0),
            -max(timeline.runs[path].values(), default=0),
            path,
        ),
    )
    order = sorted(tags, key=lambda tag: (-found[tag], -tags[tag], tag))
    return order[:rows], paths[:columns]

"""How many different findings were found over the programs, and how many more are expected."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from exportdiff.interfaces.reports.plots.theme import ACCENT, INK, SAYS, SOFT, Spec, plot, quantity

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.discovery import Discovery

POINTS = 24
"""How many points the dashed line has."""
NAMED = 3
"""How many findings are named, if one program shows several for the first time."""


def growth(found: Discovery, width: int, programs: str) -> Spec:
    """Return the plot: a step for each discovery, and a dashed line for as many programs again."""
    rows: list[Spec] = [{"programs": 0, "found": 0, "part": "seen", "says": "the start"}]
    number = 0
    for when, group in groupby(found.firsts, key=itemgetter(0)):
        names = [what for _, what in group]
        number += len(names)
        says = f"after {when:,}, {number} found; the latest: {', '.join(names[:NAMED])}"
        rows.append({"programs": when, "found": number, "part": "seen", "says": says})
    total = found.programs
    if rows[-1]["programs"] < total:
        says = f"after {total:,}, {number} found"
        rows.append({"programs": total, "found": number, "part": "seen", "says": says})
    for place in range(POINTS + 1):
        further = total * place // POINTS
        more = found.expected(further)
        says = f"after {total + further:,} programs: about {more:.0f} expected"
        rows.append({"programs": total + further, "found": more, "part": "expected", "says": says})
    end = [{"programs": total, "found": found.found, "says": f"{found.found} found"}]
    x = quantity("programs", programs, axis={"tickCount": 4, "grid": False, "format": ",.0f"})
    most = max(row["found"] for row in rows)
    # With few steps, Vega would round two ticks to the same number.
    ticks = {"values": list(range(int(most) + 1))} if most <= 5 else {"tickCount": 4}
    y = quantity("found", None, axis={**ticks, "domain": False, "format": ",.0f"})
    base = {"x": x, "y": y, "description": SAYS}
    seen, expected = ({"filter": f"datum.part == '{part}'"} for part in ("seen", "expected"))
    return plot(
        width,
        190,
        rows,
        layer=[
            {
                "transform": [seen],
                "mark": {"type": "area", "interpolate": "step-after", "color": ACCENT, "opacity": 0.12},
                "encoding": {"x": x, "y": y},
            },
            {
                "transform": [seen],
                "mark": {"type": "line", "interpolate": "step-after", "color": ACCENT, "strokeWidth": 2},
                "encoding": {"x": x, "y": y},
            },
            {
                "transform": [expected],
                "mark": {"type": "line", "strokeDash": [4, 4], "color": SOFT, "strokeWidth": 2},
                "encoding": {"x": x, "y": y},
            },
            {"mark": {"type": "point", "filled": True, "opacity": 0, "size": 120}, "encoding": base},
            {
                "data": {"values": end},
                "mark": {"type": "point", "filled": True, "color": ACCENT, "size": 50, "opacity": 1},
                "encoding": base,
            },
            {
                "data": {"values": end},
                "mark": {"type": "text", "align": "right", "dx": -8, "dy": -10, "color": INK},
                "encoding": {"x": x, "y": y, "text": SAYS},
            },
        ],
    )

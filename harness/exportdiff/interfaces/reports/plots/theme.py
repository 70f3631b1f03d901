"""The fonts and colours of all plots. The colours are CSS variables of the page."""

from __future__ import annotations

from typing import Any, TypeAlias

Spec: TypeAlias = "dict[str, Any]"
"""A Vega-Lite specification: https://vega.github.io/vega-lite/docs/spec.html"""

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
ACCENT, FAINT = "var(--accent)", "var(--faint)"
BAD = "var(--bad)"
CATEGORIES = ["var(--accent)", "var(--warn)", "var(--other)"]

_AXIS = {
    "labelColor": SOFT,
    "titleColor": SOFT,
    "gridColor": LINE,
    "domainColor": LINE,
    "tickColor": LINE,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "labelPadding": 6,
    "tickSize": 0,
}

CONFIG: Spec = {
    "font": "system-ui, sans-serif",
    "background": None,
    "padding": {"left": 14, "top": 8, "right": 14, "bottom": 4},
    "view": {"stroke": None},
    "axis": _AXIS,
    "legend": {"labelColor": SOFT, "titleColor": SOFT, "labelFontSize": 12, "titleFontSize": 12},
    "text": {"fontSize": 12},
}


def plot(width: int, height: int, rows: list[Spec], **parts: Any) -> Spec:
    """Return a specification of this size, in pixels, with these rows as data."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": width,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "config": CONFIG,
        **parts,
    }


def quantity(name: str, title: str | None, **more: Any) -> Spec:
    """Return the encoding of a number."""
    return {"field": name, "type": "quantitative", "title": title, **more}


def category(name: str, title: str | None = None, **more: Any) -> Spec:
    """Return the encoding of a text; categories keep the order of the rows."""
    return {"field": name, "type": "nominal", "title": title, "sort": None, **more}


SAYS: Spec = {"field": "says", "type": "nominal"}
"""The text of a mark, for tooltips and screen readers."""

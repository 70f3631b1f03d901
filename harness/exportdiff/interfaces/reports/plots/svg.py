"""Draws a Vega-Lite specification as SVG that can stand in a page beside others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.plots.theme import Spec

_ID = re.compile(r'(\bid="|url\(#)(\w+)')
_ROLE = re.compile(r' role="[^"]*"| aria-roledescription="(?!axis)[^"]*"')
"""The plot is one picture to screen readers; only its axes are told apart, by the script of the page."""
_DIGITS = re.compile(r"(?<=\d\.\d\d)\d+")
"""More digits than a screen has pixels. CampaignNumbers in texts have fewer."""


def drawn(spec: Spec, name: str) -> str:
    """Return the SVG. ``name`` begins the ids in it: ids are unique in a page.

    Raises UsageError if the library is missing that draws.
    """
    try:
        import vl_convert
    except ImportError:
        raise UsageError(
            "the plots of a report need vl-convert-python: pip install 'exportdiff[report]'"
        ) from None
    svg: str = vl_convert.vegalite_to_svg(spec)
    # A page has its own titles and texts for each plot.
    svg = svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
    svg = _DIGITS.sub("", _ROLE.sub("", svg))
    return _ID.sub(rf"\g<1>{name}-\g<2>", svg)

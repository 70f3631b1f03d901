"""Draws a Vega-Lite specification as SVG for a page with several plots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from exportdiff.core.errors import UsageError

if TYPE_CHECKING:
    from exportdiff.interfaces.reports.plots.theme import Spec

_ID = re.compile(r'(\bid="|url\(#)(\w+)')
_ROLE = re.compile(r' role="[^"]*"| aria-roledescription="(?!axis)[^"]*"')
"""For screen readers, a plot is one picture. The axes keep their roles: the page's script needs them."""
_DIGITS = re.compile(r"(?<=\d\.\d\d)\d+")
"""Digits that no screen shows. Numbers in texts have fewer digits."""


def drawn(spec: Spec, name: str) -> str:
    """Return the SVG. The ids in it begin with ``name``, because ids must be unique in a page.

    Raises UsageError if vl-convert-python is missing.
    """
    try:
        import vl_convert
    except ImportError:
        raise UsageError(
            "the plots of a report need vl-convert-python: pip install 'exportdiff[report]'"
        ) from None
    svg: str = vl_convert.vegalite_to_svg(spec)
    # The page has a title and a text for each plot.
    svg = svg.replace("<svg ", '<svg aria-hidden="true" ', 1)
    svg = _DIGITS.sub("", _ROLE.sub("", svg))
    return _ID.sub(rf"\g<1>{name}-\g<2>", svg)

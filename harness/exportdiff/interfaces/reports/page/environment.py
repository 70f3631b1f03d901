"""How the templates of HTML files are read: names of users are escaped, and a missing value is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from exportdiff.core.listing import listed
from exportdiff.interfaces.wording import counted, span


def environment() -> Environment:
    """Return the settings and filters of all templates."""
    made = Environment(
        loader=PackageLoader("exportdiff.interfaces.reports.page"),
        autoescape=select_autoescape(("html", "jinja")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        counted=counted,
        listed=listed,
        span=span,
        python=_python,
        svg=lambda text: Markup(text),  # made by exportdiff; its texts are escaped
        number=lambda value: f"{value:,}",
    )
    return made


def _python(text: str) -> Markup:
    """Return a program as HTML with classes for syntax highlighting."""
    return Markup(highlight(text, PythonLexer(), HtmlFormatter(nowrap=True)))

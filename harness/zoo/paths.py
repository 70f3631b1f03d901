"""The paths of the zoo: those that people deploy. They are the columns of the table."""

from __future__ import annotations

from harness.paths import parse

WRITTEN = (
    "nonstrict:module",
    "nonstrict:unflatten",
    "nonstrict+decompose:module",
    "nonstrict+decompose:unflatten",
    "nonstrict+reload:module",
    "nonstrict+reload:unflatten",
    "strict:module",
    "strict:unflatten",
)

PATHS = tuple(map(parse, WRITTEN))

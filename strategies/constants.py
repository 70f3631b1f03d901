"""The Python values and the kinds of containers that programs use."""

from __future__ import annotations

import math

from strategies.program import FIELDS, Kind, Size
from strategies.values import PythonValue

LITERALS: dict[str, tuple[PythonValue | None, ...]] = {
    "bool": (True, False),
    "int": (1, 2, 0, 3),
    "str": ("a", "b", "c"),
    "float": (0.5, 2.0, math.nan, math.inf, -1.0, 1.0),
    "enum": (Kind.A, Kind.B),
    "size": (Size((2,)), Size((2, 3)), Size(())),
    "optional": (None,),
}
"""Kind of argument -> the values that are passed; scenarios take the first two."""

ODD_TEXTS = ("it's", 'a "b"', "a\n", "\\", "")
"""Strings that need quoting."""

GROUPS = ("tuple", "list", "dict", "named", "data")
"""The kinds of containers, simplest first."""


def group_keys(kind: str) -> tuple[str, ...]:
    """The names of the two items of a container of this kind; none for a tuple or list."""
    if kind == "dict":
        return ("a", "b")
    return FIELDS if kind in ("named", "data") else ()

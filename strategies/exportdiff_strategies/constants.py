"""The Python constants that Programs pass and compare with, and the kinds of containers."""

from __future__ import annotations

import math

from exportdiff_strategies import program as ir
from exportdiff_strategies.values import PythonValue

LITERALS: dict[str, tuple[PythonValue | None, ...]] = {
    "bool": (True, False),
    "int": (1, 2, 0, 3),
    "str": ("a", "b", "c"),
    "float": (0.5, 2.0, math.nan, math.inf, -1.0, 1.0),
    "enum": (ir.Kind.A, ir.Kind.B),
    "size": (ir.Size((2,)), ir.Size((2, 3)), ir.Size(())),
    "optional": (None,),
}
"""Kind of argument -> the values that are passed; scenarios take the first two."""

OTHER_TYPES: dict[str, tuple[PythonValue, ...]] = {
    "bool": (1, 0),
    "int": (True, 1.0, 2.0, False),
    "float": (2, 1, True),
}
"""Kind of argument -> values of another type, some of them equal to one of LITERALS."""

KEYS: tuple[tuple[ir.Literal, ...], ...] = (("b", "a"), (1, 0), (None, "a"), ((0, 1), (1,)), (2.5, True))
"""Unusual keys of dicts: in another order, or no text."""

ODD_TEXTS = ("it's", 'a "b"', "a\n", "\\", "")
"""Strings that need quoting."""

COLLECTIONS = ("tuple", "list", "dict", "named", "data")
"""The kinds of containers, simplest first."""


def collection_keys(kind: str) -> tuple[str, ...]:
    """The names of the two items of a container of this kind; none for a tuple or list."""
    if kind == "dict":
        return ("a", "b")
    return ir.FIELDS if kind in ("named", "data") else ()

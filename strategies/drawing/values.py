"""The Python values that programs pass around."""

from __future__ import annotations

import math

from strategies.program import FIELDS

LITERALS: dict[str, tuple[bool | int | float | str | None, ...]] = {
    "bool": (True, False),
    "int": (1, 2, 0, 3),
    "str": ("a", "b", "c"),
    "float": (0.5, 2.0, math.nan, math.inf, -1.0, 1.0),
    "optional": (None,),
}
"""What is passed for each kind of argument; scenarios take the first two."""

GROUPS = ("tuple", "list", "dict", "named", "data")
"""The kinds of containers, simplest first."""


def group_keys(kind: str) -> tuple[str, ...]:
    """The names of the two items of a container of this kind; none for a tuple or list."""
    if kind == "dict":
        return ("a", "b")
    return FIELDS if kind in ("named", "data") else ()

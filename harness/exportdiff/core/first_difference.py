"""The first difference between eager and a path, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FirstDifference:
    """The first place at which a path does something else than eager, or why it was not found."""

    call: int | None = None
    """The number of the call; None: no call is needed to see the difference."""
    module: str | None = None
    """The first name of the module in ``named_modules()``; empty: the model itself."""
    module_call: int | None = None
    """Which call of that module it is, within the call of the model; the first one is 1."""
    operator: str = ""
    """The ATen operator, as ``aten.mul``; empty if the difference is not in an operator."""
    file: str = ""
    """The file of the user, and ``line`` in it."""
    line: int | None = None
    code: str = ""
    """The text of that line."""
    eager: str = ""
    """The value in eager, for people."""
    here: str = ""
    """The value on the path, for people."""
    note: str = ""
    """What a reader must know in addition, such as that the search ends at a compiled graph."""
    why_not: str = ""
    """Why there is no place; then nothing else is set."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return asdict(self)


def not_found(why: str) -> FirstDifference:
    """Return the result of a search that found no place."""
    return FirstDifference(why_not=why)

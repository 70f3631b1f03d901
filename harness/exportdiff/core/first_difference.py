"""The first difference between eager and a path, as plain data."""

from __future__ import annotations

import pathlib
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.side_by_side import SideBySide

NOT_IN_A_CALL = "it is not a difference in what a call computes"
"""Why there is no place for a guard or a printed line, for example. Not said to people: they see it."""


@dataclass(frozen=True)
class FirstDifference:
    """The first place at which a path does something else than eager, or why it was not found."""

    call: int | None = None
    """The number of the call; None: no call is needed to see the difference."""
    module: str | None = None
    """The first name of the module in ``named_modules()``; empty: the model itself; None: not known."""
    module_call: int | None = None
    """Which call of that module it is, within the call of the model; the first one is 1."""
    operator: str = ""
    """The ATen operator, as ``aten.mul``; empty if the difference is not in an operator."""
    file: str = ""
    """The file of the user."""
    line: int | None = None
    """The line in that file."""
    code: str = ""
    """The text of that line."""
    eager: str = ""
    """The value in eager, for people."""
    here: str = ""
    """The value on the path, for people."""
    why_not: str = ""
    """Why there is no place; then nothing else is set."""
    recorded: SideBySide | None = field(default=None, compare=False, repr=False)
    """What both runs did; None: they were not run once more."""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON, without what was recorded."""
        named = asdict(replace(self, recorded=None))
        del named["recorded"]
        return named

    def lines(self) -> Iterator[str]:
        """Say it to people: the place, the line of code, and the two values; or why there is no place."""
        if self.why_not:
            if self.why_not != NOT_IN_A_CALL:
                yield f"first difference not found: {self.why_not}"
            return
        yield f"first difference: {self.short}".rstrip()
        if self.code:
            yield f"    {self.code}"
        if values := self._values:
            yield values

    @property
    def short(self) -> str:
        """The module and the line, as ``blocks.1 (2nd call), net.py:14``; empty if neither is known."""
        at = f"{pathlib.PurePath(self.file).name}:{self.line}" if self.line else ""
        alone = bool(self.module) and not at  # as "1" of nn.Sequential, which needs a word
        return ", ".join(filter(None, (f"module {self._module}" if alone else self._module, at)))

    @property
    def _module(self) -> str:
        if self.module is None:
            return ""
        nth = "" if self.module_call in (None, 1) else f" ({ordinal(self.module_call or 1)} call)"
        return (self.module or "the model itself") + nth

    @property
    def _values(self) -> str:
        sides = [f"{name} {value}" for name, value in (("eager", self.eager), ("here", self.here)) if value]
        text = ", ".join(sides)
        return f"{self.operator}: {text}" if self.operator and text else self.operator or text


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``11th``."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def not_found(why: str) -> FirstDifference:
    """Return the result of a search that found no place."""
    return FirstDifference(why_not=why)

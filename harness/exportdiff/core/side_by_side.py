"""What eager and a path did in the calls of a finding, module call by module call, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["equal", "first", "different", "absent", "added", "not compared"]
"""``equal``: both sides give the same. ``first``: the first difference. ``different``: the results differ.
``absent``: only eager does it. ``added``: only the path does it. ``not compared``: the path has other
operators, and none of them gives this result."""


@dataclass(frozen=True)
class OperatorRow:
    """An operator, or a named value at the end of a call."""

    state: State
    eager: str
    """What eager runs, such as ``aten.mul``, or the name of the value; empty: nothing."""
    here: str
    """What the path runs; empty: nothing."""
    eager_value: str = ""
    here_value: str = ""
    where: str = ""
    """The line of the user's file, as ``net.py:14``."""
    code: str = ""
    """The text of that line."""


@dataclass(frozen=True)
class ModuleRow:
    """One call of a module, with the operators that it runs itself."""

    call: int
    """The number of the call of the model."""
    name: str
    """The first name of the module; empty: the model itself."""
    number: int
    """Which call of that module it is, within the call of the model; the first one is 1."""
    part: Literal["forward", "backward", "results"]
    """``results``: not a call, but the results and the state after the call of the model."""
    state: State
    """``first`` if it has the first difference; ``equal`` also if it runs no operator itself."""
    operators: tuple[OperatorRow, ...] = ()
    left_out: int = 0
    """How many operators are not listed."""

    @property
    def in_eager(self) -> bool:
        """Whether eager makes this call."""
        return self.state != "added"

    @property
    def on_path(self) -> bool:
        """Whether the path makes this call."""
        return self.state != "absent"

    @property
    def depth(self) -> int:
        """How deep the module is in the model."""
        return self.name.count(".") + 1 if self.name else 0


@dataclass(frozen=True)
class SideBySide:
    """Both runs, in the order of eager."""

    rows: tuple[ModuleRow, ...]
    modules_left_out: int = 0
    """How many calls of modules are not listed, because they are far from the first difference."""
    operators_left_out: int = 0
    """How many operators are not listed, for the same reason."""

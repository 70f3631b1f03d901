"""The Python constants that a Program may contain, and paths to attributes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The enumeration that the source defines when the Program uses one of its members."""

    A = 1
    B = 2


ENUMS: dict[str, tuple[object, object]] = {
    "Enum": (1, 2),
    "IntEnum": (1, 2),
    "int, Enum": (1, 2),
    "str, Enum": ("a", "b"),
    "Flag": (1, 2),
}
"""Base class of the enumeration -> the values of its two members."""


class Size(tuple[int, ...]):
    """A constant that the source writes as a ``torch.Size``."""

    __slots__ = ()


Literal = bool | int | float | str | Kind | Size | None | tuple["Literal", ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A step of an AttributePath: a key of an ``nn.ModuleDict``."""

    name: str


@dataclass(frozen=True, slots=True)
class Slice:
    """A step of an AttributePath: part of a ``ModuleList`` or ``Sequential``, ``[start:stop]``."""

    start: int
    stop: int


Step = str | int | Key | Slice


AttributePath = tuple[Step, ...]
"""The way from ``self`` to a submodule or attribute: ``("layers", 0, "w")`` is ``self.layers[0].w``."""

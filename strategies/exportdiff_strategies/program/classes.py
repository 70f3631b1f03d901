"""Module classes, their methods and the arguments of these."""

from __future__ import annotations

from dataclasses import dataclass

from exportdiff_strategies.program.construction import Init
from exportdiff_strategies.program.expressions import Lit
from exportdiff_strategies.program.statements import Stmt

FLAGS = ("bool", "int", "str", "float", "enum", "size")
"""The kinds of arguments that are Python values; a Program branches on them."""


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument of a method.

    ``kind`` is tensor, optional, one of FLAGS, function, either (a tensor or a tuple), a kind of Collection,
    rest (``*rest``) or options (``**options``). ``unnamed`` arguments are positional-only, ``keyword`` ones
    keyword-only.
    """

    name: str
    kind: str
    default: Lit | None = None
    unnamed: bool = False
    keyword: bool = False


@dataclass(frozen=True, slots=True)
class MethodDef:
    """A method other than ``forward``."""

    name: str
    args: tuple[Arg, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class ClassDef:
    """One module class; ``guest`` names the class of the module that its constructor takes, if any."""

    name: str
    init: tuple[Init, ...]
    args: tuple[Arg, ...]
    body: tuple[Stmt, ...]
    methods: tuple[MethodDef, ...] = ()
    guest: str = ""

    @property
    def bodies(self) -> tuple[tuple[Stmt, ...], ...]:
        """The bodies of all methods, ``forward`` first."""
        return (self.body, *(method.body for method in self.methods))

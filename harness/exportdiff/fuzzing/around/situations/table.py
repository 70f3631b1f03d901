"""What a situation is, and the table of situations.

A situation gets the facts about the model so far. It returns what it adds to the program: a definition, and
one statement of ``make()`` that changes ``model``, ``args`` or ``kwargs``. It returns None if it does not
apply. ``pick`` chooses among possibilities by the numbers that were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

from exportdiff.fuzzing.around.facts import Facts

T = TypeVar("T")


class Pick:
    """Chooses by numbers that were drawn."""

    def __init__(self, numbers: Sequence[int]) -> None:
        """Use these numbers, one for each choice, and 0 after them."""
        self._numbers = list(numbers)

    def __call__(self, options: Sequence[T]) -> T:
        """Return one of the options; the first for 0. There must be one."""
        number = self._numbers.pop(0) if self._numbers else 0
        return options[number % len(options)]


@dataclass(frozen=True)
class Piece:
    """What a situation adds to a program."""

    statement: str
    """A statement of ``make()``; NAME stands for the class."""
    definition: str = ""
    """A class or function called NAME, or nothing."""


BuildPiece = Callable[[Facts, Pick], Piece | None]


@dataclass(frozen=True)
class Situation:
    """One entry of the table."""

    name: str
    meaning: str
    """What happens to the model, in a few words."""
    build: BuildPiece
    tags: tuple[str, ...] = ()
    """The tags that a generated program with the same contents has."""


SITUATIONS: dict[str, Situation] = {}


def situation(build: BuildPiece) -> BuildPiece:
    """Add a function to the table, with its name and its docstring."""
    return situation_with()(build)


def situation_with(*tags: str) -> Callable[[BuildPiece], BuildPiece]:
    """Add a function whose programs also have these tags of generated programs."""

    def add(build: BuildPiece) -> BuildPiece:
        name = build.__name__.replace("_", "-")
        SITUATIONS[name] = Situation(name, (build.__doc__ or "").strip().rstrip("."), build, tags)
        return build

    return add


def with_one_of(
    options: Callable[[Facts], Sequence[T]],
) -> Callable[[Callable[[Facts, Pick, T], Piece | None]], BuildPiece]:
    """Give the function one of these options; without options, the situation does not apply."""

    def decorate(build: Callable[[Facts, Pick, T], Piece | None]) -> BuildPiece:
        @wraps(build)
        def chosen(facts: Facts, pick: Pick) -> Piece | None:
            found = options(facts)
            return build(facts, pick, pick(found)) if found else None

        return chosen

    return decorate

"""The example inputs of a model, and its dynamic shapes."""

from __future__ import annotations

from dataclasses import dataclass

from exportdiff_strategies.program.construction import Fill
from exportdiff_strategies.program.expressions import Lit
from exportdiff_strategies.program.literals import Literal


@dataclass(frozen=True, slots=True)
class TensorInput:
    """An example tensor; ``layout``, how it lies in memory, is "" (row-major) or one of LAYOUTS.

    ``history`` says what autograd knows of a tensor that requires grad: nothing (it is a leaf), or a key of
    HISTORIES.
    """

    fill: Fill
    layout: str = ""
    requires_grad: bool = False
    history: str = ""


HISTORIES: dict[str, str] = {
    "computed": ".requires_grad_().clone()",
    "view of leaf": ".requires_grad_()",
}
"""What autograd knows of an input -> what is done to the tensor that the layout is made from."""


@dataclass(frozen=True, slots=True)
class AliasInput:
    """The same tensor as an earlier argument or, with ``op``, a view of that tensor."""

    name: str
    op: str = ""
    params: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionInput:
    """A container of inputs; ``kind`` and ``keys`` as in Collection."""

    kind: str
    items: tuple[Input, ...]
    keys: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class IdiomInput:
    """The example input of idiom ``number`` of a kind."""

    kind: str
    number: int


Input = TensorInput | AliasInput | CollectionInput | IdiomInput | Lit


@dataclass(frozen=True, slots=True)
class Dim:
    """A dynamic dimension: ``kind`` is named (a ``Dim`` from ``low`` to ``high``), auto or dynamic.

    A derived one, a ``Dim`` too, is ``times`` the dimension ``base`` plus ``more``.
    """

    name: str
    kind: str
    low: int | None = None
    high: int | None = None
    base: str = ""
    times: int = 1
    more: int = 0


@dataclass(frozen=True, slots=True)
class Dynamic:
    """Which sizes are dynamic, and the sizes to probe.

    ``places`` are (argument, dimension, name of a Dim). Every probe has one size for each of ``dims``.
    """

    dims: tuple[Dim, ...]
    places: tuple[tuple[str, int, str], ...]
    probes: tuple[tuple[int, ...], ...]


NamedInputs = tuple[tuple[str, Input], ...]
"""Pairs of an argument's name and its input."""

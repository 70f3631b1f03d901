"""What an idiom is: a short block of code that people write, with holes for a tensor and for its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from textwrap import dedent

from exportdiff_strategies.ops import Operand, OpResult, forbid, require
from exportdiff_strategies.types import dense

EXTRA = "extra"
"""The argument of the model in which an idiom takes its input."""

NEW, SAME, OTHER = "a new tensor", "the tensor itself", "another object"
"""What an idiom gives. Another object is one that the machine knows nothing about."""


def unchanged(bound: float, count: int) -> float:
    """The bound of a result whose values are no larger than those of the operand."""
    return bound


def joined(*parts: str) -> str:
    """One source from parts of it, without the indentation of the table."""
    return "\n".join(dedent(part).strip("\n") for part in parts)


@dataclass(frozen=True, slots=True)
class Idiom:
    """One idiom.

    ``body`` is source over ``$x``, a floating-point tensor with elements in a row, and ``$t``, the name of
    the result. A new result has the shape of ``$x``; ``dtype`` is its dtype if that is not the dtype of
    ``$x``, and ``bound`` limits its values, given the limit for ``$x`` and the number of elements.
    """

    body: str
    bound: Callable[[float, int], float] = unchanged
    dtype: str = ""
    gives: str = NEW
    init: str = ""
    """Statements of ``__init__``."""
    preamble: str = ""
    """Definitions before the classes."""
    imports: tuple[str, ...] = ()
    given: str = ""
    """The example input that the model takes in addition, as the keyword argument ``extra``."""
    random: bool = False
    """Whether ``init`` draws random numbers."""
    computes: bool = False
    """Whether ``init`` leaves a tensor that autograd computed, which copy.deepcopy refuses."""
    trains: bool = False
    """Whether the result requires grad even if ``$x`` does not."""
    detached: bool = False
    """Whether the result never requires grad."""
    autograd: bool = False
    """Whether it computes or changes gradients, which inference mode does not allow."""
    reads_mode: bool = False
    """Whether ``body`` branches on ``self.training``."""
    stateful: bool = False
    """Whether a second run in one call, as a checkpoint makes, has further effects."""
    most: int = 64
    """The largest number of elements of ``$x``."""
    least: int = 1
    """The smallest number of elements of ``$x``."""
    dtypes: tuple[str, ...] = ("float32", "float64")
    """The dtypes of ``$x``."""

    def __post_init__(self) -> None:
        """Remove the indentation of the table from the source."""
        for name in ("body", "init", "preamble"):
            object.__setattr__(self, name, joined(getattr(self, name)))

    def lines(self, x: str, target: str) -> list[str]:
        """The body, for these names."""
        return Template(self.body).substitute(x=x, t=target).splitlines()

    def outcome(self, x: Operand) -> OpResult:
        """The type of the result. Raises Rejected for a tensor that the idiom does not take."""
        kind = x.type
        require(kind.dtype in self.dtypes, "another dtype")
        require(kind.shape and kind.contiguous and not x.lazy, "only elements in a row")
        forbid(not self.least <= kind.numel <= self.most, "another number of elements")
        if self.gives == SAME:
            return OpResult(kind, x.bound, alias=True, same=True)
        return OpResult(dense(kind.shape, self.dtype or kind.dtype), self.bound(x.bound, kind.numel))


@dataclass(frozen=True, slots=True)
class Kind:
    """Idioms of one kind, and what a program with one of them contains; ``needs`` as in ``Needing``."""

    meaning: str
    idioms: tuple[Idiom, ...]
    needs: str = ""

"""What a dataclass of evidence says, ready for JSON: which difference it is, and how large it is.

Two runs show the same difference if ``what_differs`` is equal; ``amount`` says which one is larger.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEASURED: Mapping[str, bool] = {"measured": True}
"""The metadata of a field that may change from run to run, such as a size: it does not say which difference
this is."""


@dataclass(frozen=True)
class Amount:
    """How large a difference of numbers is."""

    absolute: float
    """Between the two elements that are furthest apart. Infinite if one is infinite or NaN."""
    relative: float
    """``absolute``, divided by the largest finite element of eager's tensor."""
    tolerated: float
    """The difference that ``torch.testing.assert_close`` tolerates in such a tensor by default."""

    def scaled(self, factor: float) -> Amount:
        """Return a bound that is larger by a factor."""
        return Amount(self.absolute * factor, self.relative * factor, self.tolerated)

    def within(self, bound: Amount) -> bool:
        """Whether neither the absolute nor the relative difference is larger than that of ``bound``."""
        return self.absolute <= bound.absolute and self.relative <= bound.relative

    @classmethod
    def of(cls, absolute: float, largest: float, tolerated: float) -> Amount:
        """Return the amount for a tensor whose largest finite element is ``largest``."""
        return cls(absolute, absolute / largest if largest else math.inf, tolerated)


def what_differs(evidence: object) -> dict[str, Any]:
    """Return the fields that say which difference it is, ready for JSON. The call is left out."""
    return {name: each for name, each in _plain(evidence).items() if name != "call"}


def amount(evidence: object) -> Amount | None:
    """Return how large the difference is; None if it is not one of numbers."""
    return next(_amounts(evidence), None)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        kept = (each for each in dataclasses.fields(value) if not each.metadata.get("measured"))
        return {each.name: _plain(getattr(value, each.name)) for each in kept}
    if isinstance(value, frozenset):
        return sorted(map(_plain, value))
    if isinstance(value, tuple):
        return [*map(_plain, value)]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _amounts(value: Any) -> Iterator[Amount]:
    if not dataclasses.is_dataclass(value):
        return
    if isinstance(found := getattr(value, "amount", None), Amount):
        yield found
    for each in dataclasses.fields(value):
        yield from _amounts(getattr(value, each.name))

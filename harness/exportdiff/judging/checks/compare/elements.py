"""How the elements of two tensors of one dtype and shape differ. Infinities and NaN are values like others.

An element equals another if all its parts do: they are equal numbers, or infinities of one sign, or both
NaN. A complex number has two parts. Large tensors are read and compared piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exportdiff.runtime.observing.values import parts

if TYPE_CHECKING:
    from exportdiff.runtime.observing.values import Array, Values

UNITS = 4
"""Differences of up to 4 units in the last place are rounding."""
UNITS_OF_LARGEST = 64
"""So are differences of up to 64 units in the last place of the largest element, if ``torch.testing``
tolerates them. With few elements, eager may be very near to the float64 reference by chance: in 5 of 60
``nn.TransformerDecoderLayer``, a gradient or a result of the decomposed program was further from it, by up to
37 units."""


@dataclass(frozen=True)
class Furthest:
    """The elements of two tensors that are furthest apart."""

    ours: str
    theirs: str
    place: tuple[int, ...]
    apart: float
    """Infinite between an infinity, or NaN, and anything else."""
    number: int
    """The number of elements that differ."""


def furthest(a: Values, b: Values) -> Furthest | None:
    """Return the first element at which two tensors are furthest apart; None if no element differs."""
    found: tuple[str, str, int, float] | None = None
    number = 0
    for start, (ours, theirs) in parts(a, b):
        differs = differing(ours, theirs)
        if not differs.any():
            continue
        number += int(differs.sum())
        apart = np.where(differs, distance(wide(ours), wide(theirs)), -1.0)
        place = int(np.argmax(apart))
        if found is None or apart[place] > found[3]:
            found = str(ours[place]), str(theirs[place]), start + place, float(apart[place])
    if found is None:
        return None
    index = tuple(int(i) for i in np.unravel_index(found[2], a.shape))
    return Furthest(found[0], found[1], index, found[3], number)


def is_rounding(a: Values, b: Values, exact: Values | None, eps: float, tolerated: float) -> bool:
    """Whether the values differ by rounding: by the float64 reference, or else by the size of the values.

    ``a`` is eager's tensor, ``eps`` the step of its dtype at 1, ``tolerated`` what ``torch.testing``
    tolerates by default. An infinity, or NaN, is never the rounding of another value.
    """
    if exact is None or exact.shape != a.shape:
        return _within(a, b, None, 16 * eps * largest_magnitude(a), 0.0)
    # Twice the largest error of eager, and a few units in the last place.
    losses = (distance(wide(ours), _target(true, ours)) for _, (ours, true) in parts(a, exact))
    lost = max(map(_largest, losses), default=0.0)
    small = min(tolerated, UNITS_OF_LARGEST * eps * largest_magnitude(a))
    return _within(a, b, exact, max(2 * lost, small), UNITS * eps)


def largest_error(a: Values, b: Values, exact: Values | None) -> float:
    """Return the largest distance of ``b`` from the float64 reference, or else from eager's tensor ``a``.

    It is infinite where one of the two is not finite and the other differs.
    """
    if exact is None or exact.shape != a.shape:
        exact = a
    found = (distance(wide(theirs), _target(true, ours)) for _, (ours, theirs, true) in parts(a, b, exact))
    return max((float(each.max(initial=0.0)) for each in found), default=0.0)


def largest_magnitude(a: Values) -> float:
    """Return the largest absolute value of the finite elements; 0 if there is none."""
    return max((_largest(np.abs(wide(ours))) for _, (ours,) in parts(a)), default=0.0)


def _within(a: Values, b: Values, exact: Values | None, absolute: float, relative: float) -> bool:
    for _, (ours, theirs, *given) in parts(a, b, *(() if exact is None else (exact,))):
        finite = np.isfinite(ours) & np.isfinite(theirs)
        if not (_same(ours, theirs) | finite).all():
            return False
        aim = _target(given[0], ours) if given else wide(ours)
        near = distance(wide(theirs), aim) <= absolute + relative * np.abs(aim)
        if not (near | ~finite).all():
            return False
    return True


def signs_of_zero_differ(a: Values, b: Values) -> bool:
    """Whether two tensors that are otherwise equal differ in 0.0 and -0.0. Signs of NaN do not count.

    The same operators on the same device give the same sign, and 1/x shows it: it is a difference.
    """
    if a.dtype.kind not in "fc":
        return False
    pairs = ((real_parts(ours), real_parts(theirs)) for _, (ours, theirs) in parts(a, b))
    return any(bool(((np.signbit(x) != np.signbit(y)) & ~np.isnan(x)).any()) for x, y in pairs)


def differing(a: Array, b: Array) -> Array:
    """Return which elements differ."""
    differs: Array = ~_same(a, b)
    return differs


def _same(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "fc":
        return a == b
    x, y = real_parts(a), real_parts(b)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return same.reshape(-1, 2).all(axis=1) if a.dtype.kind == "c" else same


def real_parts(a: Array) -> Array:
    """Return the parts of complex numbers one after the other; real numbers as they are."""
    return a.view(a.real.dtype) if a.dtype.kind == "c" else a


def wide(a: Array) -> Array:
    """Return the elements in double precision."""
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def _target(exact: Array, ours: Array) -> Array:
    """Return the float64 reference; where it is not finite, it says nothing, and eager is the reference."""
    true = wide(exact)
    return np.where(np.isfinite(true), true, wide(ours))


def distance(a: Array, b: Array) -> Array:
    """Return how far apart elements are; infinite between an infinity, or NaN, and anything else."""
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    return np.where(_same(a, b), 0.0, np.where(np.isnan(apart), np.inf, apart))


def _largest(values: Array) -> float:
    """Return the largest finite number; 0 if there is none."""
    return float(np.max(values, where=np.isfinite(values), initial=0.0))

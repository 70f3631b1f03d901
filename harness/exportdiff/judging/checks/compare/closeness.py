"""How close two tensors of one dtype and shape are as wholes, and whether that is what the user tolerates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exportdiff.judging.checks.compare.elements import differing, distance, real_parts, wide
from exportdiff.runtime.observing.values import parts

if TYPE_CHECKING:
    from exportdiff.core.tolerance import Tolerance
    from exportdiff.runtime.observing.values import Values


@dataclass(frozen=True)
class Closeness:
    """Three measures over the elements that are finite on both sides."""

    snr: float
    """The signal-to-noise ratio in dB: eager is the signal, and the difference the noise."""
    cosine: float
    """The cosine similarity."""
    relative: float
    """The largest difference, divided by the largest element of eager."""

    def __str__(self) -> str:
        """Return one line for people."""
        return (
            f"SNR {self.snr:.3g} dB, cosine similarity {self.cosine:.6g}, "
            f"largest relative error {self.relative:.3g}"
        )


def closeness(a: Values, b: Values) -> Closeness:
    """Measure how close ``b`` is to eager's tensor ``a``."""
    signal = noise = other = product = apart = largest = 0.0
    with np.errstate(all="ignore"):
        for _, pair in parts(a, b):
            ours, theirs = (real_parts(wide(each)) for each in pair)
            finite = np.isfinite(ours) & np.isfinite(theirs)
            x, y = ours[finite], theirs[finite]
            signal += float(x @ x)
            other += float(y @ y)
            product += float(x @ y)
            noise += float((x - y) @ (x - y))
            apart = max(apart, float(np.abs(x - y).max(initial=0.0)))
            largest = max(largest, float(np.abs(x).max(initial=0.0)))
    if not noise:
        return Closeness(math.inf, 1.0, 0.0)
    snr = 10 * math.log10(signal / noise) if signal else -math.inf
    cosine = product / math.sqrt(signal * other) if signal and other else 0.0
    return Closeness(snr, cosine, apart / largest if largest else math.inf)


def is_tolerated(a: Values, b: Values, measured: Closeness, tolerance: Tolerance) -> bool:
    """Whether the user tolerates the difference from eager's tensor ``a``.

    An infinity, or NaN, is never tolerated in place of another value.
    """
    bounds = tolerance.of_elements
    with np.errstate(all="ignore"):
        for _, (ours, theirs) in parts(a, b):
            finite = np.isfinite(ours) & np.isfinite(theirs)
            if (differing(ours, theirs) & ~finite).any():
                return False
            if bounds is not None:
                absolute, relative = bounds
                near = distance(wide(theirs), wide(ours)) <= absolute + relative * np.abs(wide(ours))
                if not (near | ~finite).all():
                    return False
    reached = {"snr": measured.snr, "cosine": measured.cosine, "relative": -measured.relative}
    signs = {"snr": 1, "cosine": 1, "relative": -1}
    return all(reached[name] >= signs[name] * bound for name, bound in tolerance.metrics)

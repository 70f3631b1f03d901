"""How far the values of a path may be from those of eager, if the user says so. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

Metric: TypeAlias = Literal["snr", "cosine", "relative"]
"""``snr``: the signal-to-noise ratio in dB. ``cosine``: the cosine similarity. ``relative``: the largest
difference, divided by the largest element of eager."""

METRICS: tuple[Metric, ...] = get_args(Metric)

_SAYS: dict[Metric, str] = {
    "snr": "the signal-to-noise ratio is at least {:g} dB",
    "cosine": "the cosine similarity is at least {:g}",
    "relative": "the largest difference is at most {:g} of eager's largest element",
}


@dataclass(frozen=True)
class Tolerance:
    """What must hold for a tensor of floating point or complex numbers: all that is not None."""

    absolute: float | None = None
    relative: float | None = None
    """Of each element of eager. With one of the two, the other is 0."""
    metrics: tuple[tuple[Metric, float], ...] = ()
    """Each with its bound."""

    @property
    def of_elements(self) -> tuple[float, float] | None:
        """The absolute and the relative difference that each element may have; None: any."""
        if self.absolute is None and self.relative is None:
            return None
        return self.absolute or 0.0, self.relative or 0.0

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command that give it."""
        plain = (("--atol", self.absolute), ("--rtol", self.relative))
        return (
            *(f"{option} {value:g}" for option, value in plain if value is not None),
            *(f"--metric {name}={bound:g}" for name, bound in self.metrics),
        )

    def conditions(self) -> Iterator[str]:
        """Yield what must hold, for people."""
        if self.of_elements is not None:
            absolute, relative = self.of_elements
            yield f"each element is within {absolute:g} + {relative:g} * abs(eager) of eager"
        for name, bound in self.metrics:
            yield _SAYS[name].format(bound)


def read_metric(text: str) -> tuple[Metric, float]:
    """Read ``snr=40``. Raises ValueError."""
    name, _, bound = text.partition("=")
    for metric in METRICS:
        if metric == name:
            return metric, read_bound(bound)
    raise ValueError(f"{text!r}: write one of {', '.join(f'{each}=NUMBER' for each in METRICS)}")


def read_bound(text: str) -> float:
    """Read a number of at least 0. Raises ValueError."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{text!r} is no number of at least 0")
    return number

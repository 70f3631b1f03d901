"""Which paths an example runs on: on the cheap ones always, on the others the more rarely the more they cost.

The index of the example alone decides, so the same seed gives the same plan on any number of workers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from harness.paths import all_paths
from harness.paths.catalog import is_core, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.path import Path

RATES: dict[str, tuple[int, int]] = {
    "nonstrict:module": (1, 0),
    "nonstrict:unflatten": (1, 0),
    "strict:module": (4, 0),
    "strict:unflatten": (4, 0),
    "compile:compiled": (4, 2),
    # Many programs have dynamic shapes of their own, and run on neither of these.
    "nonstrict+dynamic:module": (13, 8),
    "nonstrict+dynamic:unflatten": (13, 8),
    # On the pinned torch every program is refused.
    "nonstrict+pickle:unflatten": (79, 7),
}
"""``(13, 8)``: of every 13 examples, number 8 runs on the path. The cost decides for other paths."""

STEPS = ((100.0, 11), (1000.0, 23), (float("inf"), 79))
"""``(100.0, 11)``: one example in 11 runs on a path that costs up to 100 ms. The numbers are primes, so that
for any two paths some example runs on both."""


def paths_for(index: int, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Choose the paths of one example. Every example runs on the most frequent of ``paths``."""
    rates = [_rate(path) for path in paths]
    often = min((every for every, _ in rates), default=1)
    return tuple(
        path
        for path, (every, turn) in zip(paths, rates, strict=True)
        if index % max(every // often, 1) == turn % max(every // often, 1)
    )


def share(path: Path) -> int:
    """Return N where one example in N runs on the path, if a campaign has all paths."""
    return _rate(path)[0]


@cache
def _rate(path: Path) -> tuple[int, int]:
    written = path.without_device
    if written in RATES:
        return RATES[written]
    from harness.paths import cost, place

    milliseconds = cost(path)
    every = next(every for most, every in STEPS if milliseconds <= most)
    return every, _TURN * place(_first_of_stem(path)) % every


def _first_of_stem(path: Path) -> Path:
    """Return the first path that shares an export with this one, unless every example makes that anyway."""
    of_stem = [each for each in all_paths([path.device]) if stem(each) == stem(path)]
    return path if not of_stem or is_core(of_stem[0]) else of_stem[0]


_TURN = 5
"""Different examples run on paths that are neighbours in the list."""

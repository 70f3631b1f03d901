"""(seed, index) -> Program: the same on every machine and in every process, whatever was drawn before."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from hypothesis import HealthCheck, given, settings

from exportdiff_strategies import program as ir
from exportdiff_strategies.drawing.programs import programs
from exportdiff_strategies.profiles import NAMES

BYTES = 6144
"""The number of random bytes for the choices of one Program, which uses a few hundred."""

_drawn: list[ir.Program] = []
"""The Program that the fuzzer has just drawn."""


@cache
def _fuzzer(profile: str, forbidden: frozenset[str]) -> Callable[[bytes], object]:
    """Return Hypothesis's public entry point for fuzzers, for the Programs of a profile."""

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(programs(profile=profile, forbidden=forbidden))
    def keep(program: ir.Program) -> None:
        _drawn.append(program)

    # Hypothesis adds the attribute at run time; its type hints do not know it.
    fuzz = cast("Any", keep).hypothesis.fuzz_one_input
    return cast("Callable[[bytes], object]", fuzz)


def draw_program(
    seed: int, index: int, profile: str = "default", forbidden: frozenset[str] = frozenset()
) -> ir.Program:
    """Draw program number ``index`` of a campaign with this seed and profile.

    The ``forbidden`` switches are off; a program that uses none of them stays the same.

    Hypothesis runs through ``fuzz_one_input``, on bytes that depend only on the two numbers. If the strategy
    rejects the bytes, the next bytes of the same stream follow. Raises ValueError for an unknown profile.
    """
    if profile not in NAMES:
        raise ValueError(f"no profile {profile!r}; there are {', '.join(NAMES)}")
    fuzz = _fuzzer(profile, forbidden)
    source = random.Random(f"exportdiff {seed} {index}")
    _drawn.clear()
    while not _drawn:
        fuzz(source.randbytes(BYTES))
    return _drawn.pop()

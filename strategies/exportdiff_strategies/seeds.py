"""(seed, example) -> Program: the same on every machine and in every process, whatever was drawn before."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exportdiff_strategies.drawing.programs import Example, examples
from exportdiff_strategies.profiles import NAMES
from exportdiff_strategies.program import Program

BYTES = 6144
"""The number of random bytes for the choices of one example; a Program uses a few hundred."""

_drawn: list[Example] = []
"""The example that the fuzzer has just drawn."""


def _fuzzer(strategy: st.SearchStrategy[Example]) -> Callable[[bytes], object]:
    """Hypothesis's public entry point for fuzzers, for a strategy."""

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def keep(example: Example) -> None:
        _drawn.append(example)

    # Hypothesis adds the attribute at run time; its type hints do not know it.
    fuzz = cast("Any", keep).hypothesis.fuzz_one_input
    return cast("Callable[[bytes], object]", fuzz)


@cache
def _fuzzer_of(profile: str, forbidden: frozenset[str]) -> Callable[[bytes], object]:
    return _fuzzer(examples(profile=profile, forbidden=forbidden))


def draw_program(
    seed: int, example: int, profile: str = "default", forbidden: frozenset[str] = frozenset()
) -> Program:
    """The Program of ``draw_example``, with the same arguments and errors."""
    return draw_example(seed, example, profile, forbidden).program


def draw_example(
    seed: int, example: int, profile: str = "default", forbidden: frozenset[str] = frozenset()
) -> Example:
    """Draw example number ``example`` of a campaign with this seed and profile.

    The ``forbidden`` switches are off; where drawing asks for none of them, the program stays the same.

    Hypothesis runs through ``fuzz_one_input``, on bytes that only depend on the two numbers. If the strategy
    rejects the bytes, the next ones of the same stream follow. Raises ValueError for an unknown profile.
    """
    if profile not in NAMES:
        raise ValueError(f"no profile {profile!r}; there are {', '.join(NAMES)}")
    return next(_examples(_fuzzer_of(profile, forbidden), f"exportdiff {seed} {example}"))


def stream(switches: frozenset[str]) -> Iterator[Program]:
    """An endless stream of Programs that use no other switches; it is the same every time."""
    fuzz = _fuzzer(examples(switches=switches))
    return (example.program for example in _examples(fuzz, "exportdiff"))


def _examples(fuzz: Callable[[bytes], object], name: str) -> Iterator[Example]:
    for choices in _choices(name):
        _drawn.clear()
        fuzz(choices)
        if _drawn:
            yield _drawn.pop()


def _choices(name: str) -> Iterator[bytes]:
    source = random.Random(name)
    while True:
        yield source.randbytes(BYTES)

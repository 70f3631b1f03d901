"""(seed, example) -> Program: the same on every machine, in every process, whatever else was drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies.drawing.programs import Example, examples
from strategies.profiles import NAMES
from strategies.program import Program

BYTES = 6144
"""Choice bytes on offer for one example; a Program takes a few hundred."""

_drawn: list[Example] = []


def _fuzzer(strategy: st.SearchStrategy[Example]) -> Callable[[bytes], object]:
    """Hypothesis's public entry for fuzzers, over a strategy."""

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def keep(example: Example) -> None:
        _drawn.append(example)

    # Hypothesis adds the attribute at run time; its type hints do not know it.
    fuzz = cast("Any", keep).hypothesis.fuzz_one_input
    return cast("Callable[[bytes], object]", fuzz)


@cache
def _fuzzer_of(profile: str) -> Callable[[bytes], object]:
    return _fuzzer(examples(profile=profile))


def draw_program(seed: int, example: int, profile: str = "default") -> Program:
    """The Program of ``draw_example``, which see."""
    return draw_example(seed, example, profile).program


def draw_example(seed: int, example: int, profile: str = "default") -> Example:
    """Draw example number ``example`` of a campaign with this seed and profile.

    Hypothesis is driven through ``fuzz_one_input``, with bytes that only depend on the two numbers. Bytes
    that the strategy rejects are replaced by the next ones of the stream. Raises ValueError for a profile
    that there is none of.
    """
    if profile not in NAMES:
        raise ValueError(f"no profile {profile!r}; there are {', '.join(NAMES)}")
    return next(_examples(_fuzzer_of(profile), f"exportdiff {seed} {example}"))


def stream(features: frozenset[str]) -> Iterator[Program]:
    """Programs without an end that use no other features; the same ones every time."""
    fuzz = _fuzzer(examples(features=features))
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

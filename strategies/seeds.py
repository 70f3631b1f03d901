"""(seed, example) -> Program: the same on every machine, in every process, whatever else was drawn."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, cast

from hypothesis import HealthCheck, given, settings

from strategies.program import Program
from strategies.programs import programs

BYTES = 4096
"""Choice bytes on offer for one example; a Program takes a few hundred."""

_drawn: list[Program] = []


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def _keep(program: Program) -> None:
    _drawn.append(program)


# Hypothesis adds the attribute at run time; its type hints do not know it.
_fuzz = cast("Any", _keep).hypothesis.fuzz_one_input


def draw_program(seed: int, example: int) -> Program:
    """Draw example number ``example`` of a campaign with this seed.

    Hypothesis is driven through its public entry for fuzzers, ``fuzz_one_input``, with bytes that only
    depend on the two numbers. Bytes that the strategy rejects are replaced by the next ones of the stream.
    """
    for choices in _choices(seed, example):
        _drawn.clear()
        _fuzz(choices)
        if _drawn:
            return _drawn.pop()
    raise AssertionError("the stream of choices is endless")


def _choices(seed: int, example: int) -> Iterator[bytes]:
    stream = random.Random(f"exportdiff {seed} {example}")
    while True:
        yield stream.randbytes(BYTES)

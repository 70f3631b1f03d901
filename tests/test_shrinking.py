"""Whatever is found must shrink: a Program is reduced towards a feature tag, for one tag after the other."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, find, settings

from strategies import programs, render
from strategies.features import TAGS
from strategies.program import Program
from strategies.seeds import draw_example

ENOUGH = settings(
    database=None,
    derandomize=True,
    max_examples=5000,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def lines(program: Program) -> int:
    """Lines of source; blank ones between definitions do not count."""
    return sum(bool(line.strip()) for line in render(program).splitlines())


def smallest(tag: str) -> Program:
    """The Program that Hypothesis shrinks to, from the features of the first example with that tag."""
    drawn = (draw_example(0, number) for number in itertools.count())
    first = next(example for example in drawn if tag in example.program.features)
    strategy = programs(features=first.features)
    return find(strategy, lambda program: tag in program.features, settings=ENOUGH)


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    program = find(programs(), lambda program: True, settings=ENOUGH)
    assert len(program.classes) == 1
    assert "return x + 1" in render(program)


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_shrinks(tag: str) -> None:
    program = smallest(tag)
    assert lines(program) <= 30, render(program)

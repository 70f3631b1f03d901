"""Findings must shrink: for one tag after the other, a Program with that tag is reduced."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, find, settings

from exportdiff_strategies import programs, render, tags_of
from exportdiff_strategies.narrowing import narrow
from exportdiff_strategies.program import Program
from exportdiff_strategies.seeds import draw_example
from exportdiff_strategies.tags import TAGS

FEW = 6
"""The number of tags that the nightly tests shrink: each takes ten to twenty seconds."""

ENOUGH = settings(
    database=None,
    derandomize=True,
    max_examples=5000,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def lines(program: Program) -> int:
    """Lines of source, without blank ones."""
    return sum(bool(line.strip()) for line in render(program).splitlines())


def smallest(tag: str) -> Program:
    """The Program that Hypothesis shrinks to, with the switches of the first example that has the tag."""
    drawn = (draw_example(0, number) for number in itertools.count())
    first = next(example for example in drawn if tag in tags_of(example.program))
    switches = narrow(first.switches, lambda program: tag in tags_of(program))
    return find(programs(switches=switches), lambda program: tag in tags_of(program), settings=ENOUGH)


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    program = find(programs(), lambda program: True, settings=ENOUGH)
    assert len(program.classes) == 1
    assert "return x + 1" in render(program)


def test_a_tag_shrinks_to_30_lines() -> None:
    assert lines(smallest(next(iter(TAGS)))) <= 30


@pytest.mark.nightly
def test_tags_shrink_to_15_lines_on_average(every_tag: bool) -> None:
    """A few tags from all parts of the table; with ``pytest -m nightly --every-tag`` (an hour), all."""
    tags = list(TAGS)[:: 1 if every_tag else len(TAGS) // FEW]
    sizes = {tag: lines(smallest(tag)) for tag in tags}
    assert sum(sizes.values()) / len(sizes) <= 15, sizes
    assert max(sizes.values()) <= 30, sizes

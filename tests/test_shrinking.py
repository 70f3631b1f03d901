"""Findings must shrink: Hypothesis reduces a Program with a tag to a small one."""

from __future__ import annotations

from hypothesis import HealthCheck, find, settings

from exportdiff_strategies import Program, programs, render, tags_of

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


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    program = find(programs(), lambda program: True, settings=ENOUGH)
    assert len(program.classes) == 1
    assert "return x + 1" in render(program)


def test_a_tag_shrinks_to_30_lines() -> None:
    program = find(programs(), lambda program: "calls.other_flags" in tags_of(program), settings=ENOUGH)
    assert lines(program) <= 30

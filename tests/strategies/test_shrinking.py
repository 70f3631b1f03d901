"""Findings must shrink: Hypothesis reduces Programs to the simplest one."""

from __future__ import annotations

from hypothesis import HealthCheck, find, settings

from exportdiff_strategies import programs, render

ENOUGH = settings(
    database=None,
    derandomize=True,
    max_examples=5000,
    deadline=None,
    report_multiple_bugs=False,  # else it looks for others before it shrinks
    suppress_health_check=list(HealthCheck),
)


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    program = find(programs(), lambda program: True, settings=ENOUGH)
    assert len(program.classes) == 1
    assert "return x + 1" in render(program)

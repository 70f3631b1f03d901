"""Findings must shrink: Hypothesis reduces Programs to the simplest one."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, find, settings

from exportdiff_strategies import programs, render

ENOUGH = settings(
    database=None,
    derandomize=True,
    max_examples=5000,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],  # to explain a failure, Hypothesis draws a hundred more
    suppress_health_check=list(HealthCheck),
)


def test_everything_shrinks_to_one_class_that_adds_one() -> None:
    program = find(programs(), lambda program: True, settings=ENOUGH)
    assert len(program.classes) == 1
    assert "return x + 1" in render(program)

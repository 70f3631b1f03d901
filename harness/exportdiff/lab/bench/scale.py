"""How much a benchmark measures: little for a quick look, more for figures to quote."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """The sizes of all measurements."""

    name: str
    default_programs: int
    """Programs judged on the default paths: for rediscovery and growth."""
    default_cpu_seconds: float
    """Judging of these programs stops after this number of CPU seconds."""
    attributed_programs: int
    """The first of these are attributed, each to all of its root causes: for stages and yield."""
    nonstrict_programs: int
    campaign_seconds: float
    """For programs a second, as a user sees them."""
    scaling_programs: int
    """For one worker against two."""
    memory_programs: int
    bare_programs: int
    large_megabytes: float
    """The weights of the large model."""
    minimize_seconds: float
    faults: int
    """The number of faults, spread evenly over the list."""
    fault_seconds: float
    coverage_seconds: float
    profile_programs: int
    """Programs of each profile, for the yield by profile; 0: not measured."""
    placed_programs: int
    """Programs in which an operator is replaced, for the first difference."""


QUICK = Scale(
    name="quick",
    default_programs=100,
    default_cpu_seconds=30.0,
    attributed_programs=100,
    nonstrict_programs=40,
    campaign_seconds=20.0,
    scaling_programs=200,
    memory_programs=120,
    bare_programs=40,
    large_megabytes=40.0,
    minimize_seconds=6.0,
    faults=6,
    fault_seconds=4.0,
    coverage_seconds=10.0,
    profile_programs=0,
    placed_programs=10,
)

FULL = Scale(
    name="full",
    default_programs=20_000,
    default_cpu_seconds=24 * 60.0,
    attributed_programs=600,
    nonstrict_programs=1000,
    campaign_seconds=120.0,
    scaling_programs=600,
    memory_programs=10_000,
    bare_programs=500,
    large_megabytes=300.0,
    minimize_seconds=60.0,
    faults=1000,
    fault_seconds=60.0,
    coverage_seconds=600.0,
    profile_programs=150,
    placed_programs=100,
)

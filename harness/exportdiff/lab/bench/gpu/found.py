"""What a task of the measurement ``gpu`` returns. Plain data: it crosses a process boundary."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Something that a path shows on the device, and not on the CPU."""

    program: str
    path: str
    check: str
    title: str
    source: str
    """The program as it ran on the device."""
    on_cpu: str = ""
    """Another finding of the same path on the CPU, or why the CPU could not be asked; usually empty."""


@dataclass(frozen=True)
class Ran:
    """What was run, and what it showed."""

    programs: int = 0
    """Programs that were judged."""
    runs: int = 0
    """Runs of a path on the device."""
    shared: int = 0
    """Findings that the CPU shows as well."""
    unsteady: int = 0
    """Findings that a second run on the device did not show."""
    dropped: tuple[str, ...] = ()
    """For each program that could not be judged: why."""
    differences: tuple[Difference, ...] = ()
    broken: bool = False
    """Whether the process cannot use the device any more, because a kernel has failed."""

    def __add__(self, other: Ran) -> Ran:
        """Return both together."""
        return Ran(
            self.programs + other.programs,
            self.runs + other.runs,
            self.shared + other.shared,
            self.unsteady + other.unsteady,
            self.dropped + other.dropped,
            self.differences + other.differences,
            self.broken or other.broken,
        )


def dropped(reason: str) -> Ran:
    """Return the result of a program that could not be judged."""
    return Ran(dropped=(reason.partition("\n")[0][:200],))

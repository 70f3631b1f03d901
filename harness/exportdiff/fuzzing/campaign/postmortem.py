"""Finds out which path kills the process that judges a program, or never ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from exportdiff.core.finding import Finding
from exportdiff.judging.checks.alive import ALIVE, ProcessDied
from exportdiff.runtime.processes.child import Death

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from exportdiff.runtime.paths import Path

T = TypeVar("T")


@dataclass(frozen=True)
class PostMortem(Generic[T]):
    """What happened when each path was judged in its own process."""

    eager: Death | None
    """How eager alone killed its process; then no path was judged."""
    alive: dict[Path, T]
    """The answer for each path that its process survived."""
    deaths: dict[Path, Death]
    """The other paths."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each way in which a process died, on the first path that shows it."""
        found: dict[tuple[str, ...], Finding] = {}
        for path, death in self.deaths.items():
            new = death_finding(path, death)
            old = found.setdefault(new.signature, new)
            if old is not new:
                found[new.signature] = replace(old, shown_on=(*old.shown_on, path))
        return tuple(found.values())


def post_mortem(
    judge: Callable[[tuple[Path, ...]], T | Death], paths: Sequence[Path], *, check_eager: bool = True
) -> PostMortem[T]:
    """Judge eager alone, then each path alone.

    ``judge`` judges some paths in a child process, and returns the answer or how the process died; without
    paths, it runs eager alone. If eager kills its process, no path is judged.
    """
    if check_eager and isinstance(eager := judge(()), Death):
        return PostMortem(eager, {}, {})
    answers = {path: judge((path,)) for path in paths}
    return PostMortem(
        None,
        {path: answer for path, answer in answers.items() if not isinstance(answer, Death)},
        {path: answer for path, answer in answers.items() if isinstance(answer, Death)},
    )


def death_finding(path: Path, death: Death) -> Finding:
    """Return the finding that a path kills its process, or never ends."""
    return Finding(path, ALIVE, ProcessDied(death.kind, death.reason, death.memory))

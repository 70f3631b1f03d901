"""What all measurements share: the sizes, the machine's processes, the records of one sample of programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from exportdiff.fuzzing.campaign.worker import Job
from exportdiff.lab.bench.records import Records, run_records, with_roots
from exportdiff.runtime.paths import EXPENSIVE, all_paths, cost, select_paths

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable

    from exportdiff.core.path import Path
    from exportdiff.lab.bench.figures import Result
    from exportdiff.lab.bench.scale import Scale


REQUESTED_SECONDS = 420.0


@dataclass(frozen=True)
class Context:
    """One run of the benchmark."""

    scale: Scale
    workers: int
    seed: int
    corpora: pathlib.Path | None
    """None: there is no corpus here, so no root cause has a name."""
    device: str = "auto"
    """Where the measurement ``gpu`` runs, as ``--device`` names it."""
    seconds: float = REQUESTED_SECONDS
    """How long each measurement takes that runs on request."""
    programs: pathlib.Path | None = None
    """The folder for files of the measurements that run on request; None: they write none."""
    report: Callable[[Result], None] = lambda result: None
    """Gets what a measurement knows while it runs."""

    @property
    def default_paths(self) -> tuple[Path, ...]:
        """The paths of a campaign without ``--paths``."""
        return tuple(path for path in all_paths(["cpu"]) if cost(path) < EXPENSIVE)

    @property
    def nonstrict_paths(self) -> tuple[Path, ...]:
        """``nonstrict:*``: the two paths that every program runs on."""
        return select_paths(["nonstrict:*"])

    @cached_property
    def default(self) -> Records:
        """The first programs of a campaign on the default paths, no fix in place, without attribution."""
        scale = self.scale
        return run_records(
            Job(self.seed, self.default_paths),
            programs=scale.default_programs,
            cpu_seconds=scale.default_cpu_seconds,
            workers=self.workers,
        )

    @cached_property
    def attributed(self) -> Records:
        """The first of these programs, with the root causes of their findings if there is a corpus."""
        records = self.default.records[: self.scale.attributed_programs]
        if self.corpora is not None:
            records = with_roots(records, self.corpora, self.workers)
        return Records(records, self.default.lost)

    @cached_property
    def nonstrict(self) -> Records:
        """The first programs on ``nonstrict:*``, without attribution."""
        return run_records(
            Job(self.seed, self.nonstrict_paths),
            programs=self.scale.nonstrict_programs,
            cpu_seconds=float("inf"),
            workers=self.workers,
        )

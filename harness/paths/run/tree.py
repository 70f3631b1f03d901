"""Running a case along paths, in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.paths.catalog import stem
from harness.paths.modes import MODES
from harness.paths.run.compiled import observe_compiled
from harness.paths.run.exported import observe_exported
from harness.paths.run.pipelined import observe_pipelined
from harness.paths.runners import PIPELINES
from harness.paths.transforms.apply import varied_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.case import Case
    from harness.observe.observation import Observation
    from harness.path import Path
    from harness.paths.stopwatch import Stopwatch


def observe_paths(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[Observation]:
    """Run a case along paths, stem by stem; each path starts from a fresh state."""
    stems: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        stems.setdefault(stem(path), []).append(path)
    modes = {path.mode for path in paths}
    for group in stems.values():
        varied = varied_case(case, group[0])
        if group[0].mode in MODES:
            yield from observe_exported(varied, group, clock, modes)
        elif group[0].runner in PIPELINES:
            yield from observe_pipelined(varied, group, clock)
        else:
            yield from observe_compiled(varied, group, clock)

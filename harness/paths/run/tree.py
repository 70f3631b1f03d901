"""Running a case along paths, in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.paths.modes import MODES
from harness.paths.run.compiled import observe_compiled
from harness.paths.run.exported import observe_exported
from harness.paths.run.pipelined import PIPELINES, observe_pipelined
from harness.paths.transforms.apply import varied_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.case import Case
    from harness.observe.observation import Observation
    from harness.paths.path import Path
    from harness.paths.stopwatch import Stopwatch


def observe_paths(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[Observation]:
    """Run a case along paths, stem by stem; each path starts from a fresh state."""
    stems: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        stems.setdefault(path.stem, []).append(path)
    modes = {path.mode for path in paths}
    for stem in stems.values():
        varied = varied_case(case, stem[0])
        if stem[0].mode in MODES:
            yield from observe_exported(varied, stem, clock, modes)
        elif stem[0].runner in PIPELINES:
            yield from observe_pipelined(varied, stem, clock)
        else:
            yield from observe_compiled(varied, stem, clock)

"""Running a case along paths, in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.paths.compiled import observe_compiled
from harness.paths.execute import observe_exported
from harness.paths.modes import MODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.case import Case
    from harness.observation import Observation
    from harness.paths.path import Path
    from harness.paths.stopwatch import Stopwatch


def observe_paths(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[Observation]:
    """Run a case along paths, stem by stem; each path starts from a fresh state."""
    stems: dict[tuple[str, str], list[Path]] = {}
    for path in paths:
        stems.setdefault((path.device, path.mode), []).append(path)
    modes = {path.mode for path in paths}
    for (_, mode), stem in stems.items():
        if mode in MODES:
            yield from observe_exported(case, stem, clock, modes)
        else:
            yield from observe_compiled(case, stem, clock)

"""Runs a case along paths; paths that share an export run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.runtime.paths.catalog import export_key
from exportdiff.runtime.paths.run.compiled import observe_compiled
from exportdiff.runtime.paths.run.exported import observe_exported
from exportdiff.runtime.paths.run.pipelined import observe_pipelined
from exportdiff.runtime.paths.transforms.apply import varied_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from exportdiff.core.case import Case
    from exportdiff.core.path import Path
    from exportdiff.runtime.observing.observation import Observation
    from exportdiff.runtime.paths.stopwatch import Stopwatch


def observe_paths(case: Case, paths: Sequence[Path], clock: Stopwatch) -> Iterator[Observation]:
    """Run a case along paths. Paths with the same export key share one export; each starts from its state."""
    groups: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        groups.setdefault(export_key(path), []).append(path)
    modes = {path.mode for path in paths}
    for group in groups.values():
        varied = varied_case(case, group[0])
        if observe := _WITHOUT_EXPORT.get(group[0].mode):
            yield from observe(varied, group, clock)
        else:
            yield from observe_exported(varied, group, clock, modes)


_WITHOUT_EXPORT: dict[str, Callable[[Case, Sequence[Path], Stopwatch], Iterator[Observation]]] = {
    "compile": observe_compiled,
    "pipeline": observe_pipelined,
}
"""How to observe the modes that export nothing, by mode."""

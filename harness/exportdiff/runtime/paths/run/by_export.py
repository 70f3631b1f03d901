"""Runs a case along paths; paths that share an export run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.runtime.observing.observation import NotObserved
from exportdiff.runtime.observing.parts import CannotObserveError
from exportdiff.runtime.paths.backends import runner_of
from exportdiff.runtime.paths.catalog import export_key
from exportdiff.runtime.paths.run.compiled import observe_compiled
from exportdiff.runtime.paths.run.exported import observe_exported
from exportdiff.runtime.paths.run.pipelined import observe_pipelined
from exportdiff.runtime.paths.run.unexported import observe_unexported
from exportdiff.runtime.paths.transforms.apply import varied_case

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

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
        yield from _observe_group(case, group, clock, modes)


def _observe_group(
    case: Case, group: Sequence[Path], clock: Stopwatch, modes: Collection[str]
) -> Iterator[Observation]:
    """Run along paths with one export. If one shows something that cannot be observed, leave it out."""
    left = list(group)
    while left:
        varied = varied_case(case, left[0])
        observed: Iterator[Observation]
        try:
            if runner_of(left[0]).starts_from != "export":
                observed = observe_unexported(varied, left, clock, modes)
            elif observe := _WITHOUT_EXPORT.get(left[0].mode):
                observed = observe(varied, left, clock)
            else:
                observed = observe_exported(varied, left, clock, modes)
            for seen in observed:
                left = left[1:]
                yield seen
        except CannotObserveError as error:
            path, *left = left
            yield NotObserved(path, reason=error.reason)


_WITHOUT_EXPORT: dict[str, Callable[[Case, Sequence[Path], Stopwatch], Iterator[Observation]]] = {
    "compile": observe_compiled,
    "pipeline": observe_pipelined,
}
"""How to observe the modes that export nothing, by mode."""

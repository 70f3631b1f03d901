"""Removes from an observation what a path does not promise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from exportdiff.runtime.inputs.copies import CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from exportdiff.runtime.observing.observation import ExportedObservation
    from exportdiff.runtime.paths.transforms.table import Aspect


def without(seen: ExportedObservation, aspects: Iterable[Aspect]) -> ExportedObservation:
    """Return the observation as if these aspects had not been observed."""
    for aspect in aspects:
        if aspect in _WITHOUT:
            seen = _WITHOUT[aspect](seen)
    return seen


_WITHOUT: dict[Aspect, Callable[[ExportedObservation], ExportedObservation]] = {
    "hierarchy": lambda seen: replace(seen, exported=None, rebuilt=None),
    "state": lambda seen: replace(seen, before=None, saved=frozenset()),
    "gradients": lambda seen: replace(
        seen,
        gradients=None,
        mutation_probes=tuple(replace(each, barred=None) for each in seen.mutation_probes),
        backward_after_writes=None,
    ),
    "edits": lambda seen: replace(seen, edited=None, mutation_probes=(), backward_after_writes=None),
    "predictions": lambda seen: replace(seen, predictions=()),
    "deviations": lambda seen: replace(seen, deviations=()),
    "sizes": lambda seen: replace(seen, calls=seen.calls[:CALLS], small_calls=()),
}
"""The other aspects differ from eager's in single facts: judging/promises.py takes these from eager."""
